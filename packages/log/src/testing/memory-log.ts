/** For tests: a log in memory, as streams of frames that can be cut and damaged on the way. */
import { createSystemClock, systemRandom } from '@quorumscan/base'
import type { LogSource, Ordering } from '@quorumscan/ledger'
import { encodeFrame } from '../frame.ts'
import type { SignedGroup } from '../group.ts'
import { createOrderingClient, type OrderingClientOptions } from '../ordering-client.ts'
import { genesis } from './signed-groups.ts'

/** Any bytes and signature, said to end at `lastOffset`. */
export type AnyGroup = Pick<SignedGroup, 'bytes' | 'signature' | 'lastOffset'>

export type MemoryLog = {
  append(...more: readonly AnyGroup[]): void
  /** Another log takes its place, and all streams end. */
  replace(others: readonly AnyGroup[]): void
  reader(options?: Partial<OrderingClientOptions>): Ordering
  /** How many streams were opened. */
  streamCount(): number
}

/** @param spoil - Changes each piece on the way, and may end the stream after it. */
export function createMemoryLog(
  spoil: (piece: Uint8Array) => {
    readonly pieces: readonly Uint8Array[]
    readonly isOver: boolean
  } = (piece) => ({ pieces: [piece], isOver: false }),
): MemoryLog {
  let groups: readonly AnyGroup[] = []
  let opened = 0
  let generation = 0
  let wakers: (() => void)[] = []
  const changed = () => {
    for (const wake of wakers) wake()
    wakers = []
  }
  async function* stream({ from, signal }: Parameters<LogSource['open']>[0]) {
    const mine = generation
    let next = from
    let isFirst = true
    while (!signal.aborted && mine === generation) {
      const head = groups.at(-1)?.lastOffset ?? 0
      const news = groups.filter(({ lastOffset }) => lastOffset >= next)
      const frames = news.map((group) => encodeFrame({ offset: group.lastOffset, group }))
      if (isFirst) frames.unshift(encodeFrame({ offset: head, group: null }))
      isFirst = false
      next = Math.max(next, head + 1)
      if (frames.length > 0) {
        const { pieces, isOver } = spoil(Buffer.concat(frames))
        yield* pieces
        if (isOver) return
      }
      if ((groups.at(-1)?.lastOffset ?? 0) >= next) continue
      await new Promise<void>((resolve) => {
        wakers.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
        if (signal.aborted || mine !== generation) resolve()
      })
    }
  }
  const source: LogSource = {
    submit: async () => {},
    open: async (request) => {
      opened++
      return stream(request)
    },
  }
  return {
    append(...more) {
      groups = [...groups, ...more]
      changed()
    },
    replace(others) {
      groups = others
      generation++
      changed()
    },
    reader: (options) =>
      createOrderingClient({
        log: source,
        genesis,
        // The ordering client opens the next stream without a pause.
        clock: {
          ...createSystemClock(),
          delay: () => new Promise((resolve) => setImmediate(resolve)),
        },
        random: systemRandom,
        ...options,
      }),
    streamCount: () => opened,
  }
}
