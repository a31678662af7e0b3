/** Checks where a process reports that its clock is wrong. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { send, until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'

/** Replicas pause above this difference. The synchronizer pauses at a much smaller one. */
const PAUSE_MS = 10_000
/** A measured clock difference has an error of half the round trip. */
const CLOSE_MS = 1_000
const LINE = /this clock is [0-9]+ s (behind|ahead of)/

/** Sets the clock of a process. Returns the places (`/readyz`, `/status`, metric, log) that do not report it. */
export async function setClock(
  cluster: RunningCluster,
  name: string,
  offsetMs: number,
): Promise<readonly string[]> {
  const url = cluster.urls.nodes[name] ?? cluster.urls[name as 'validator' | 'synchronizer']
  const linesBefore = await linesOf(cluster, name)
  await cluster.clock(name, { offsetMs })
  const isClose = (ms: number) => Math.abs(ms - offsetMs) <= CLOSE_MS
  const health = name === 'validator' ? `${url}/api/validator` : url
  const ready = await send(`${health}/readyz`)
  const isPaused = Math.abs(offsetMs) > PAUSE_MS || name === 'synchronizer'
  const isInReadyz = isPaused
    ? ready.status === 503 && ready.body?.code === 'CLOCK_OFF' && /clock/i.test(ready.body.error)
    : ready.status === 200 && isClose(Number(ready.headers.get('x-clock-offset-ms')))
  const status = await send(`${health}/status`)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const measured = [...metrics.matchAll(/^quorumscan_clock_offset_seconds\{.*\} (.*)$/gm)]
  const reports = {
    readyz: isInReadyz,
    status: isClose(status.body.success.extra.clockOffsetMs),
    // The clock of one peer may be wrong, or have been wrong at its last reading.
    metric: measured.filter(([, value]) => isClose(Number(value) * 1000)).length >= 3,
    log: await until(`a line of ${name}'s log`, async () =>
      (await linesOf(cluster, name)) > linesBefore ? true : undefined,
    ),
    'one line only': (await linesOf(cluster, name)) === linesBefore + 1,
  }
  return Object.entries(reports).flatMap(([where, isOk]) => (isOk ? [] : `${name}: ${where}`))
}

async function linesOf({ dataDir }: RunningCluster, name: string): Promise<number> {
  const text = await readFile(join(dataDir, 'logs', `${name}.log`), 'utf8')
  return text.split('\n').filter((line) => LINE.test(line)).length
}
