/** The verified floor of a reader: its highest verified offset, stored across restarts (D-39). */
import { type FloorStore, ReaderError } from './reader-options.ts'

export function createVerifiedFloor(store: FloorStore | undefined) {
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
      // Reads continue without a stored floor.
    }
    isSaving = false
  }

  const restore = async (from: FloorStore): Promise<void> => {
    try {
      const stored = await from.load()
      if (!(stored >= 0)) throw new RangeError('not an offset')
      floor = Math.max(floor, stored)
    } catch (cause) {
      loading = undefined
      throw new ReaderError('NO_FLOOR', 'the stored floor cannot be read', { cause })
    }
  }

  return {
    value: () => floor,
    /** Never lowers it. Stores the newest value in the background. */
    raise(offset: number): void {
      if (offset <= floor) return
      floor = offset
      if (store !== undefined && !isSaving) void save(store)
    },
    /** Reads the stored value once. @throws {ReaderError} NO_FLOOR if that fails; the next call tries again. */
    load(): Promise<void> | undefined {
      loading ??= store && restore(store)
      return loading
    },
  }
}
