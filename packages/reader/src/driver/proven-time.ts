/**
 * The time by which a reader judges ages: the later of the device's clock and the newest proven record time.
 *
 * A record time that f + 1 members state was at most 10 s ahead of the clock of an honest member (Rule 6). So a clock that
 * lags such a record time by more than 10 s is wrong. The reader moves the proven time forward with its monotonic clock,
 * so that it holds also while nodes send nothing new, and when the clock of the device is set back.
 */
import type { ReaderClock } from '../reader-options.ts'

/** No honest member applies an entry whose record time is further ahead of its clock (Rule 6). */
const AHEAD_MICROS_MAX = 10_000_000
/**
 * The part by which the monotonic clock of a device may run too fast. Without this allowance, a fast clock would count as
 * the newest proven time for ever, because no later proof would be newer.
 */
const DRIFT_MAX = 0.001

/** The times of a reader. Written in place, with each step of its decider. */
export type Times = {
  /** Monotonic, without the time during which this process stalled. */
  nowMs: number
  /** The later of the device's clock and the proven time, µs since the epoch. Ages are judged by it. */
  nowMicros: number
  /** How far the clock of the device lags the proven time, ms; null: not by more than 10 s, which proves nothing. */
  clockSkewMs: number | null
  /** The clock of the device, µs since the epoch. */
  deviceMicros: number
  /** Monotonic. */
  monotonicMs: number
  /** The newest record time that f + 1 members have stated, and when by `monotonicMs`. */
  provenMicros: number
  provenAtMs: number
}

export function createTimes(): Times {
  return {
    nowMs: 0,
    nowMicros: 0,
    clockSkewMs: null,
    deviceMicros: 0,
    monotonicMs: 0,
    provenMicros: Number.NEGATIVE_INFINITY,
    provenAtMs: 0,
  }
}

/** Sets the times of a step. */
export function setTimes(
  times: Times,
  nowMs: number,
  device: Pick<Times, 'deviceMicros' | 'monotonicMs'>,
): void {
  times.nowMs = nowMs
  times.deviceMicros = device.deviceMicros
  times.monotonicMs = device.monotonicMs
  judge(times)
}

/** Notes a record time that f + 1 members state. It may prove that the clock of the device is wrong. */
export function proveTime(times: Times, recordTime: number): void {
  if (recordTime <= movedMicros(times)) return
  times.provenMicros = recordTime
  times.provenAtMs = times.monotonicMs
  judge(times)
}

/** The times between steps. */
export function timesNow(
  times: Times,
  clock: Pick<ReaderClock, 'nowMicros' | 'monotonicMs'>,
): Readonly<Times> {
  const now = { ...times, deviceMicros: clock.nowMicros(), monotonicMs: clock.monotonicMs() }
  judge(now)
  return now
}

function judge(times: Times): void {
  const aheadMicros = Math.ceil(movedMicros(times) - times.deviceMicros)
  times.nowMicros = times.deviceMicros + Math.max(0, aheadMicros)
  times.clockSkewMs = aheadMicros > AHEAD_MICROS_MAX ? Math.floor(aheadMicros / 1000) : null
}

/** The proven time, moved forward to the time of the step. */
function movedMicros({ provenMicros, provenAtMs, monotonicMs }: Times): number {
  return provenMicros + (monotonicMs - provenAtMs) * 1000 * (1 - DRIFT_MAX)
}
