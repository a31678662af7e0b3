/**
 * Waiting in tests: for a condition, with a deadline that stretches with the machine. A test that fails
 * because the machine was busy proves nothing, and one that waits for minutes by default hides what hangs.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { type Clock, createSystemClock, waitFor } from '@quorumscan/base'

export type UntilOptions = {
  /** On a machine with nothing else to do. Default 30 s. */
  readonly timeoutMs?: number
  /** Default 20 ms. */
  readonly intervalMs?: number
}

const TIMEOUT_MS = 30_000
const INTERVAL_MS = 20
/** A deadline stretches to this many times its length at most: what hangs must fail some day. */
const SLOWNESS_MAX = 20
/** What the work of `speedFactor` takes on the machine for which deadlines were chosen. */
const WORK_MS = 4
const WORK_BYTES = 4 * 1024 * 1024
const WORK_ROUNDS = 3

const system = createSystemClock()

/** The machine's clock, except that its monotonic time passes as much more slowly as the machine is busy. */
const patient: Clock = {
  ...system,
  monotonicMs: createFairTime(system.monotonicMs, () => speedFactor() * crowdFactor()),
}

/**
 * Polls `probe` until it gives something else than undefined, and returns that.
 *
 * @param what - What is waited for; the error says it.
 * @throws {Error} If the deadline passes first.
 */
export function until<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  { timeoutMs = TIMEOUT_MS, intervalMs = INTERVAL_MS }: UntilOptions = {},
): Promise<T> {
  return waitFor(probe, { clock: patient, timeoutMs, what, intervalMs })
}

/** As `until`, for what is true or not. */
export async function untilTrue(
  what: string,
  isTrue: () => Promise<boolean> | boolean,
  options?: UntilOptions,
): Promise<void> {
  await until(what, async () => ((await isTrue()) ? true : undefined), options)
}

/** How long something takes, in milliseconds of a machine with nothing else to do. */
export async function fairMsOf(run: () => Promise<unknown>): Promise<number> {
  const startedMs = patient.monotonicMs()
  let isOver = false
  const running = run().finally(() => {
    isOver = true
  })
  // How busy the machine is changes meanwhile.
  while (!isOver) {
    await system.delay(INTERVAL_MS)
    patient.monotonicMs()
  }
  await running
  return patient.monotonicMs() - startedMs
}

/** Sums what passed, each piece divided by how many times slower than usual the machine was at its end. */
export function createFairTime(realMs: () => number, slowness: () => number): () => number {
  let lastMs = realMs()
  let fairMs = 0
  return () => {
    const nowMs = realMs()
    fairMs += (nowMs - lastMs) / Math.min(SLOWNESS_MAX, slowness())
    lastMs = nowMs
    return fairMs
  }
}

let knownSpeedFactor: number | null = null

/** How many times longer a processor of this machine computes than the one for which deadlines were chosen. */
function speedFactor(): number {
  if (knownSpeedFactor !== null) return knownSpeedFactor
  const work = Buffer.alloc(WORK_BYTES)
  const times = Array.from({ length: WORK_ROUNDS }, () => {
    const startedAt = system.monotonicMs()
    createHash('sha256').update(work).digest()
    return system.monotonicMs() - startedAt
  })
  knownSpeedFactor = Math.max(1, Math.min(...times) / WORK_MS)
  return knownSpeedFactor
}

/** How many want to compute for each processor, this moment; where the system does not say, in the last minute. */
function crowdFactor(): number {
  return Math.max(1, runnableCount() / cpus().length)
}

function runnableCount(): number {
  try {
    // "0.20 0.18 0.12 1/80 11206": the fourth is those that want to compute, of all.
    return Number(/ (\d+)\/\d+ /.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1])
  } catch {
    return loadavg()[0] ?? 0
  }
}
