/** What a process of the cluster spends, as it says itself. */

export type Spent = {
  readonly cpuMs: number
  readonly residentBytes: number
  /** The longest turn of its event loop since it was last asked. */
  readonly stallMs: number
}

/** Of the process at this address, since it began. */
export async function spentBy(url: string): Promise<Spent> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const figure = (name: string) => {
    const value = new RegExp(`^${name} ([0-9.e+-]+)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${url} measures no ${name}`)
    return Number(value)
  }
  return {
    cpuMs: figure('process_cpu_seconds_total') * 1000,
    residentBytes: figure('process_resident_memory_bytes'),
    stallMs: figure('nodejs_eventloop_lag_max_seconds') * 1000,
  }
}

/** What the process spends on this work, beside what it does anyway in the time. */
export async function spentOn(url: string, work: () => Promise<unknown>): Promise<Spent> {
  const before = await spentBy(url)
  await work()
  const after = await spentBy(url)
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    residentBytes: after.residentBytes - before.residentBytes,
    stallMs: after.stallMs,
  }
}

export const MIB = 1024 * 1024
export const inMib = (bytes: number) => Math.round(bytes / MIB)
