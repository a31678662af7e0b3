/**
 * The work of processes that have nothing to do: processor time, wake-ups, and commands of their Redis, each second, against
 * the committed table `rest-idle.json`. It runs alone: the machine has nothing else to do.
 *
 * @module-tag long
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { Redis } from 'ioredis'
import type { RunningCluster } from 'quorumscan/testing'
import { expect } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { controlPid } from './control-pid.ts'

/** How much more than the table is a fault. */
const FACTOR = 1.5
/** Before and between the measurements, by the clock of the log. */
const REST_MS = 60_000
/** Additions that calibrate the machine: processor time of the table is of the machine that recorded it. */
const ADDITIONS = 3e8

type Work = {
  /** Processor time, ms each second. */
  readonly cpuMs: number
  /** Times that a thread has waited and was woken, each second. */
  readonly wakeUps: number
}
type Table = {
  readonly calibrationMs: number
  readonly processes: Readonly<Record<string, Work>>
  /** Commands each second, by the process that has the Redis. */
  readonly redisCommands: Readonly<Record<string, number>>
}

const TABLE = join(import.meta.dirname, 'rest-idle.json')
const it = base.extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
  fileResources.opened(await startCluster()),
)
const clock = createSystemClock()
/** Of a clock tick of /proc, ms. */
const TICK_MS = 10

async function pidsOf(cluster: RunningCluster): Promise<Readonly<Record<string, number>>> {
  const { nodes, validator, synchronizer } = await cluster.status()
  const [node] = nodes
  const pids = { scan: node?.pid, validator: validator.pid, synchronizer: synchronizer.pid }
  const running = Object.entries({ ...pids, 'control plane': controlPid(cluster) })
  return Object.fromEntries(running.map(([name, pid]) => [name, Number(pid)]))
}

/** What a process has used since it started. */
async function usedBy(pid: number): Promise<Work> {
  const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  let wakeUps = 0
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    const status = await readFile(`/proc/${pid}/task/${thread}/status`, 'utf8').catch(() => '')
    wakeUps += Number(/^voluntary_ctxt_switches:\s+([0-9]+)$/m.exec(status)?.[1] ?? 0)
  }
  return { cpuMs: (Number(stat[11]) + Number(stat[12])) * TICK_MS, wakeUps }
}

/** The Unix sockets of the Redis servers, by the process that has them. */
function redisSocketsOf({ dataDir }: RunningCluster): Readonly<Record<string, string>> {
  const socketOf = (name: string) => {
    const config = readFileSync(join(dataDir, 'redis', name, 'redis.conf'), 'utf8')
    return /^unixsocket "(.*)"$/m.exec(config)?.[1] ?? ''
  }
  const names = { scan: 'sv-1', validator: 'validator', synchronizer: 'synchronizer' }
  return Object.fromEntries(Object.entries(names).map(([name, node]) => [name, socketOf(node)]))
}

/** The commands that a Redis has processed, without those of this test. */
async function commandsOf(socket: string): Promise<number> {
  const redis = new Redis(socket)
  try {
    const info = await redis.info('commandstats')
    const own = /^cmdstat_info:calls=([0-9]+)/m.exec(info)?.[1] ?? 0
    const all = [...info.matchAll(/^cmdstat_[^:]+:calls=([0-9]+)/gm)]
    return all.reduce((sum, [, calls]) => sum + Number(calls), 0) - Number(own)
  } finally {
    redis.disconnect()
  }
}

/** Processor time of a loop that each machine runs alike, ms. */
function calibrate(): number {
  const before = process.cpuUsage()
  let sum = 0
  for (let index = 0; index < ADDITIONS; index++) sum = (sum + index) | 0
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 + (sum === 1 ? 1 : 0)
}

/** Lets so much time pass. Nothing happens that could be waited for. */
async function rest(ms: number): Promise<number> {
  const startMs = clock.monotonicMs()
  const elapsedMs = () => clock.monotonicMs() - startMs
  await until('the time of rest', () => elapsedMs() >= ms || undefined, {
    timeoutMs: 3 * ms,
    intervalMs: 1000,
  })
  return elapsedMs()
}

it('uses no more processor time, wake-ups and commands than the table has', {
  tags: ['rest-idle'],
}, async ({ cluster }) => {
  const pids = await pidsOf(cluster)
  const sockets = redisSocketsOf(cluster)
  const table: Table = JSON.parse(readFileSync(TABLE, 'utf8'))
  await rest(REST_MS)
  const used = async () => ({
    processes: await Promise.all(Object.values(pids).map(usedBy)),
    commands: await Promise.all(Object.values(sockets).map(commandsOf)),
  })
  const before = await used()
  const seconds = (await rest(REST_MS)) / 1000
  const after = await used()
  const rounded = (value: number) => Math.round(value * 10) / 10
  const each = (names: readonly string[], read: (index: number) => unknown) =>
    Object.fromEntries(names.map((name, index) => [name, read(index)]))
  const measured = {
    calibrationMs: Math.round(calibrate()),
    processes: each(Object.keys(pids), (index) => {
      const [was, is] = [before.processes[index] as Work, after.processes[index] as Work]
      return {
        cpuMs: rounded((is.cpuMs - was.cpuMs) / seconds),
        wakeUps: rounded((is.wakeUps - was.wakeUps) / seconds),
      }
    }),
    redisCommands: each(Object.keys(sockets), (index) =>
      rounded(((after.commands[index] ?? 0) - (before.commands[index] ?? 0)) / seconds),
    ),
  } as Table
  if (process.env['RECORD'] !== undefined)
    writeFileSync(TABLE, `${JSON.stringify(measured, null, 2)}\n`)
  expect(aboveTable(measured, table), JSON.stringify(measured)).toEqual([])
})

/** What is more than the table has, on a machine of this speed. */
function aboveTable(measured: Table, table: Table): readonly string[] {
  const scale = measured.calibrationMs / table.calibrationMs
  const rows: [string, number, number][] = []
  for (const [name, { cpuMs, wakeUps }] of Object.entries(measured.processes)) {
    const known = table.processes[name]
    rows.push([`ms of processor time of ${name}`, cpuMs, (known?.cpuMs ?? 0) * scale])
    rows.push([`wake-ups of ${name}`, wakeUps, known?.wakeUps ?? 0])
  }
  for (const [name, commands] of Object.entries(measured.redisCommands))
    rows.push([`commands of the Redis of ${name}`, commands, table.redisCommands[name] ?? 0])
  return rows.flatMap(([what, value, known]) =>
    value > FACTOR * known ? [`${what}: ${value} a second, ${known} in the table`] : [],
  )
}
