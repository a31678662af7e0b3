/** Resources that a process of the cluster uses, from its metrics. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createSystemClock } from '@quorumscan/base'
import { send } from '@quorumscan/testkit'

const IDLE_MS = 1_000

const clock = createSystemClock()

export type Spent = {
  readonly ms: number
  readonly cpuMs: number
  readonly residentBytes: number
  /** The longest stall of its event loop since the previous read. */
  readonly stallMs: number
}

/** Usage of the process at this address since its start. */
async function spentBy(url: string, token: string): Promise<Spent & { readonly began: number }> {
  const headers = { authorization: `Bearer ${token}` }
  const text = (await send(`${url}/metrics`, { headers })).text
  const figure = (name: string) => {
    const value = new RegExp(`^${name} ([0-9.e+-]+)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${url} has no metric ${name}`)
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

/** Usage of each process while it serves no request. */
const idleByUrl = new Map<string, Spent>()

/**
 * The usage of the process during this work, without its idle usage.
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
    // A busy machine stalls all processes, including this one.
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
