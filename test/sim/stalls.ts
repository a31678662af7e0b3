/** Simulates stalls of the reader's process: its timers and replies are delayed. After a stall, timers fire first. */
import type { ReaderOptions } from '@quorumscan/reader'
import type { SimClock } from '@quorumscan/testkit'

/** Time between due timers and received replies. */
const TURN_MS = 0.1

export type Stalls = {
  /** The options with a clock and a transport that stall with the process. */
  through<Options extends Pick<ReaderOptions, 'clock' | 'transport'>>(options: Options): Options
  /** Begins a stall. */
  begin(clock: SimClock, ms: number): void
  /** Total stalled time so far. A stall counts in full from its start. */
  totalMs(): number
}

export function createStalls(): Stalls {
  let timers: Promise<void> | null = null
  let io: Promise<void> | null = null
  let totalMs = 0
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
    begin(clock, ms) {
      totalMs += ms
      timers = clock.delay(ms).then(() => {
        timers = null
      })
      io = clock.delay(ms + TURN_MS).then(() => {
        io = null
      })
    },
    totalMs: () => totalMs,
  }
}
