/** A reader's process that stands still: its timers and the answers to it wait, timers come first. */
import type { ReaderOptions } from '@quorumscan/consensus'
import type { SimClock } from '@quorumscan/testkit'

/** Between the timers that are due and what the sockets hold. */
const TURN_MS = 0.1

export type Stalls = {
  /** The options with a clock and a transport that stand still with the process. */
  through(options: ReaderOptions): ReaderOptions
  stall(clock: SimClock, ms: number): Promise<void>
}

export function createStalls(): Stalls {
  let timers: Promise<void> | null = null
  let io: Promise<void> | null = null
  return {
    through: (options) => ({
      ...options,
      clock: {
        ...options.clock,
        async delay(ms, signal) {
          await options.clock.delay(ms, signal)
          if (timers !== null) await timers
        },
      },
      transport: {
        async request(input) {
          const reply = await options.transport.request(input)
          if (io !== null) await io
          return reply
        },
      },
    }),
    async stall(clock, ms) {
      timers = clock.delay(ms)
      io = clock.delay(ms + TURN_MS)
      await clock.pass(ms)
      timers = null
      io.then(() => {
        io = null
      })
    },
  }
}
