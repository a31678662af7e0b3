/** The lowest offset that a reader reads at: its highest verified pin, kept over restarts (D-39). */
import { type FloorStore, ReaderError } from './reader-options.ts'

export type Floor = ReturnType<typeof createFloor>

export function createFloor(store: FloorStore | undefined) {
  let floor = 0
  let isSaving = false
  let loading: Promise<void> | undefined

  const save = async (to: FloorStore): Promise<void> => {
    isSaving = true
    try {
      for (let saved = -1; saved < floor; ) {
        saved = floor
        await to.save(saved)
      }
    } catch {
      // A floor that cannot be stored does not stop reading.
    }
    isSaving = false
  }

  const take = async (from: FloorStore): Promise<void> => {
    try {
      const stored = await from.load()
      if (!(stored >= 0)) throw new RangeError('no offset')
      floor = Math.max(floor, stored)
    } catch (cause) {
      loading = undefined
      throw new ReaderError('NO_FLOOR', 'the stored floor cannot be read', { cause })
    }
  }

  return {
    value: () => floor,
    /** Never lowers it. Stored in the background, the newest only. */
    raise(offset: number): void {
      if (offset <= floor) return
      floor = offset
      if (store !== undefined && !isSaving) void save(store)
    },
    /** Reads what was stored, once. @throws {ReaderError} NO_FLOOR if that fails; the next call tries again. */
    load(): Promise<void> | undefined {
      loading ??= store && take(store)
      return loading
    },
  }
}
