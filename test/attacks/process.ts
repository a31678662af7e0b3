/** What a process of the cluster spends, as it says itself. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createSystemClock } from '@quorumscan/base'
import { send } from '@quorumscan/testkit'

const IDLE_MS = 1_000

const clock = createSystemClock()

export type Spent = {
  readonly ms: number
  readonly cpuMs: number
  readonly residentBytes: number
  /** The longest turn of its event loop since it was last asked. */
  readonly stallMs: number
}

/** Of the process at this address, since it began. */
async function spentBy(url: string, token: string): Promise<Spent & { readonly began: number }> {
  const headers = { authorization: `Bearer ${token}` }
  const text = (await send(`${url}/metrics`, { headers })).text
  const figure = (name: string) => {
    const value = new RegExp(`^${name} ([0-9.e+-]+)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${url} measures no ${name}`)
    return Number(value)
  }
  return {
    ms: clock.monotonicMs(),
    cpuMs: figure('process_cpu_seconds_total') * 1000,
    residentBytes: figure('process_resident_memory_bytes'),
    stallMs: figure('nodejs_eventloop_lag_max_seconds') * 1000,
    began: figure('process_start_time_seconds'),
  }
}

/** While it serves no request. */
const idleByUrl = new Map<string, Spent>()

/**
 * What the process spends on this work, in addition to what it does anyway in the time.
 *
 * @throws {Error} If the process ended meanwhile.
 */
export async function spentOn(
  url: string,
  work: () => Promise<unknown>,
  token = '',
): Promise<Spent> {
  const idle = idleByUrl.get(url) ?? (await spentIn(url, () => clock.delay(IDLE_MS), token))
  idleByUrl.set(url, idle)
  const spent = await spentIn(url, work, token)
  return {
    ms: spent.ms,
    cpuMs: Math.max(0, spent.cpuMs - (idle.cpuMs * spent.ms) / idle.ms),
    residentBytes: spent.residentBytes,
    // A machine that others use, or that pauses for a moment, stalls all processes, this one as well.
    stallMs: Math.max(0, spent.stallMs - Math.max(idle.stallMs, spent.ownStallMs)),
  }
}

async function spentIn(
  url: string,
  work: () => Promise<unknown>,
  token: string,
): Promise<Spent & { readonly ownStallMs: number }> {
  const before = await spentBy(url, token)
  const own = monitorEventLoopDelay()
  own.enable()
  await work()
  own.disable()
  const after = await spentBy(url, token)
  if (after.began !== before.began) throw new Error(`the process at ${url} ended`)
  return {
    ms: after.ms - before.ms,
    cpuMs: after.cpuMs - before.cpuMs,
    residentBytes: after.residentBytes - before.residentBytes,
    stallMs: after.stallMs,
    ownStallMs: own.max / 1e6,
  }
}

export const MIB = 1024 * 1024
export const inMib = (bytes: number) => Math.round(bytes / MIB)
