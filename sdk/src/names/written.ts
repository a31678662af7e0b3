/** What a program wrote or was shown is what it reads: the newest such offset of all clients of the store, for a while. */
import type { Clock } from '../platform/clock.ts'
import { type Kept, keptValue } from '../platform/kept.ts'

export interface Written {
  /** From now on reads see what the ledger held at this offset. */
  note(offset: number): Promise<void>
  /** 0: nothing was written or shown lately. */
  offset(): Promise<number>
}

type Mark = { readonly offset: number; readonly atMs: number }

/**
 * No answer is older by default (D-39). An offset that is never reached, as only a validator that lies would name, keeps
 * nobody from reading for longer.
 */
const FRESH_MS = 60_000
const NOTHING: Mark = { offset: 0, atMs: 0 }

/** @param key - Of the network: clients of one store see each other's. */
export function createWritten(kept: Kept, key: () => Promise<string>, clock: Clock): Written {
  const nowMs = () => clock.nowMicros() / 1000
  const isFresh = (mark: Mark) =>
    Number.isSafeInteger(mark?.offset) && Math.abs(nowMs() - mark.atMs) < FRESH_MS
  const merge = (known: Mark, next: Mark) =>
    isFresh(next) && !(isFresh(known) && known.offset >= next.offset) ? next : known
  const mark = async () => keptValue(kept, await key(), { first: NOTHING, merge })
  return {
    note: async (offset) => (await mark()).save({ offset, atMs: nowMs() }),
    async offset() {
      const found = await (await mark()).load()
      return isFresh(found) ? found.offset : 0
    },
  }
}
