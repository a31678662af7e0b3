import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Clock, createSystemClock, type Random, systemRandom } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { DueItem, Ledger } from '@quorumscan/ledger'
import { createLogger, createMetrics } from '@quorumscan/runtime'
import { startRedis, until, untilTrue } from '@quorumscan/testkit'
import { bundleProgram } from '@quorumscan/testkit/bundle-program'
import { itWithRedis as it, type SharedRedis } from '@quorumscan/testkit/fixtures'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import type { JobDefinition } from './job.ts'
import { openJobs } from './jobs.ts'
import { openProcessQueues } from './node-queues.ts'
import { RECOVERY_MS_MAX } from './worker.ts'

const clock = createSystemClock()

/** A ledger on which contracts are due until an effect ends them; counts effects per contract. */
function createDueLedger(job: string) {
  const due = new Map<string, DueItem>()
  const effects = new Map<string, number>()
  let created = 0
  const ledger: Ledger = {
    head: () => ({ offset: 1, recordTime: 1, historyHash: '', entryHash: '' }),
    contracts: async (ids) => ids.map(() => null),
    contractsByKey: async () => [],
    totals: async () => [],
    isPartyAllocated: async () => true,
    dueItems: async ({ limit, after }) => {
      const items = [...due.values()]
      const from =
        after === null ? 0 : items.findIndex((item) => item.contractId === after.contractId) + 1
      return items.slice(from, from + limit)
    },
    dryRun: async () => ({ result: { kind: 'checkpoint' }, growth: 0 }),
    onApplied: () => () => {},
  }
  return {
    ledger,
    due,
    effects,
    add: (count: number) => {
      for (let index = 0; index < count; index++) {
        created += 1
        const contractId = `00${created.toString(16).padStart(64, '0')}`
        due.set(contractId, { job, contractId, at: 0 })
      }
    },
    /** As the ledger does: the first effect ends the contract, the later ones change nothing. */
    apply: (contractId: string) => {
      if (due.delete(contractId)) effects.set(contractId, (effects.get(contractId) ?? 0) + 1)
    },
  }
}

const JOB = 'expire-entry'
const logged: { readonly msg: string }[] = []
const stream = { write: (line: string) => logged.push(JSON.parse(line)) }
const log = createLogger({ name: 'jobs', level: 'warn', stream })

function startJobs(
  redis: SharedRedis,
  ledger: Ledger,
  process: JobDefinition<object>['process'],
  {
    isLive = () => true,
    ...ports
  }: { readonly isLive?: () => boolean; readonly clock?: Clock; readonly random?: Random } = {},
) {
  const metrics = createMetrics()
  const app = { clock, random: systemRandom, logger: log, metrics, tracer: null, ...ports }
  return openJobs(app, {
    redis: { path: redis.socketPath },
    prefix: 'jobs',
    definitions: [{ name: JOB, runsOn: 'every-member', process }],
    deps: {},
    ledger,
    isLive,
    turn: { index: 0, count: 1 },
  })
}

it('runs each due job once, and leaves nothing in Redis but its last events', async ({ redis }) => {
  const world = createDueLedger(JOB)
  world.add(700)
  await using jobs = await startJobs(redis, world.ledger, async (id) => world.apply(id))
  await until('all to be done', () => (world.due.size === 0 ? true : undefined))
  expect([...world.effects.values()].every((count) => count === 1)).toBe(true)
  await until('the queue to be empty', async () => {
    const counts = (await jobs.counts())[JOB]
    return counts?.waiting === 0 && counts.active === 0 ? true : undefined
  })
  await using client = withDispose(redis.connect())
  expect(await client.redis.keys(`jobs:${JOB}:00*`)).toEqual([])
  // Redis deletes the oldest of a hundred events by the hundred.
  const eventCount = await client.redis.xlen(`jobs:${JOB}:events`)
  expect([eventCount > 0, eventCount <= 200], `${eventCount} events`).toEqual([true, true])
})

it('retries a job that may succeed later, until it succeeds', async ({ redis }) => {
  const world = createDueLedger(JOB)
  world.add(1)
  let runs = 0
  await using _jobs = await startJobs(redis, world.ledger, async (id) => {
    runs += 1
    if (runs === 1) throw new ScanError('SUBMISSION_UNKNOWN', 'not seen')
    if (runs === 2) throw new ScanError('CONTRACT_CONSUMED', 'DsoRules was replaced')
    world.apply(id)
  })
  await until('the job to succeed', () => (world.due.size === 0 ? true : undefined))
  expect(runs).toBe(3)
  expect(await failuresIn(redis)).toEqual([])
})

it('retries a job at once if the ledger changed meanwhile', async ({ redis }) => {
  const world = createDueLedger(JOB)
  world.add(10)
  const runs = new Map<string, number>()
  // Each retry delay draws a random number.
  let waitCount = 0
  const fraction = () => {
    waitCount += 1
    return systemRandom.fraction()
  }
  const process = async (id: string) => {
    const count = (runs.get(id) ?? 0) + 1
    runs.set(id, count)
    if (count < 3) throw new ScanError('CONTRACT_NOT_FOUND', 'the rules were replaced')
    world.apply(id)
  }
  const random = { ...systemRandom, fraction }
  await using _jobs = await startJobs(redis, world.ledger, process, { random })
  await until('the jobs to succeed', () => (world.due.size === 0 ? true : undefined))
  expect([...runs.values()]).toEqual(Array(10).fill(3))
  expect(waitCount).toBe(0)
  expect(await failuresIn(redis)).toEqual([])
})

it('drops a job that can never succeed, records why, and does not retry it at once', async ({
  redis,
}) => {
  const world = createDueLedger(JOB)
  world.add(2)
  const [refused, broken] = [...world.due.keys()]
  const runs: string[] = []
  await using _jobs = await startJobs(redis, world.ledger, async (id) => {
    runs.push(id)
    if (id === refused) throw new ScanError('CHOICE_REFUSED', 'not yet expired')
    throw new TypeError('a bug')
  })
  const failures = await until('both failures', async () => {
    const recorded = await failuresIn(redis)
    return recorded.length === 2 ? recorded : undefined
  })
  expect(failures.find((failure) => failure.contractId === refused)).toMatchObject({
    job: JOB,
    code: 'CHOICE_REFUSED',
    message: 'not yet expired',
    attempts: 1,
  })
  expect(failures.find((failure) => failure.contractId === broken)?.code).toBe('INTERNAL')
  // A job that stays in Redis would make BullMQ ignore the next add (Rule 7).
  await using client = withDispose(redis.connect())
  await until('the queue to be empty', async () =>
    (await client.redis.keys(`jobs:${JOB}:00*`)).length === 0 ? true : undefined,
  )
  // A new contract proves that another sweep has passed over the dropped ones.
  world.add(1)
  await until('a later sweep', () => (runs.length >= 3 ? true : undefined))
  expect(runs.filter((id) => id === refused)).toHaveLength(1)
})

it('does not run a postponed job before its delay has passed', async ({ redis }) => {
  const world = createDueLedger(JOB)
  world.add(1)
  const [patient] = [...world.due.keys()]
  const runs: string[] = []
  await using _jobs = await startJobs(redis, world.ledger, async (id, { postponeBy }) => {
    runs.push(id)
    postponeBy(id === patient ? 3_600_000 : 0)
  })
  await until('the first run', () => (runs.length > 0 ? true : undefined))
  world.add(1)
  await until('another job twice', () => (runs.length >= 3 ? true : undefined))
  expect(runs.filter((id) => id === patient)).toHaveLength(1)
  expect(await failuresIn(redis)).toEqual([])
})

it('continues without help after Redis was killed, and loses nothing', async () => {
  await using redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'everysec'])
  const world = createDueLedger(JOB)
  world.add(40)
  let letGo = () => {}
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await using _jobs = await startJobs(redis, world.ledger, async (id) => {
    await gate
    world.apply(id)
  })
  await until('jobs to be running', async () => {
    await using client = withDispose(redis.connect())
    return (await client.redis.llen(`jobs:${JOB}:active`)) > 0 ? true : undefined
  })
  await redis.kill()
  letGo()
  await redis.restart()
  world.add(10)
  await until('all to be done', () => (world.due.size === 0 ? true : undefined))
  expect(world.effects.size).toBe(50)
  expect([...world.effects.values()].every((count) => count === 1)).toBe(true)
})

it('starts although Redis answers no write for a while', async () => {
  await using redis = await startRedis()
  await using client = withDispose(redis.connect())
  await client.redis.call('CLIENT', 'PAUSE', '600000', 'WRITE')
  const world = createDueLedger(JOB)
  world.add(1)
  const before = logged.length
  const process: JobDefinition<object>['process'] = async (id) => world.apply(id)
  await using _jobs = await startJobs(redis, world.ledger, process)
  await untilTrue('a failed sweep', () => logged.slice(before).some(({ msg }) => /sweep/.test(msg)))
  await client.redis.call('CLIENT', 'UNPAUSE')
  await until('the job to be done', () => (world.due.size === 0 ? true : undefined))
})

it('reports that Redis is down, in few lines', async () => {
  await using redis = await startRedis()
  await using _jobs = await startJobs(redis, createDueLedger(JOB).ledger, async () => {})
  const before = logged.length
  const lines = (message: string) =>
    logged.slice(before).filter((line) => line.msg.includes(message)).length
  await redis.kill()
  await until('two sweeps to fail', () => (lines('the sweep') >= 2 ? true : undefined))
  expect(lines('')).toBeGreaterThan(2)
  expect(lines('')).toBeLessThanOrEqual(6)
})

/** Runs the jobs of one process, with one contract that is due. Its processor never ends. */
const HANGING_PROCESS = `
import { createSystemClock, systemRandom } from '../../base/src/index.ts'
import { openJobs } from './index.ts'
import { createMetrics } from '../../runtime/src/index.ts'
const [path, prefix, job, contractId] = process.argv.slice(2)
const app = {
  clock: createSystemClock(),
  random: systemRandom,
  logger: console,
  metrics: createMetrics(),
  tracer: null,
}
await openJobs(app, {
  redis: { path },
  prefix,
  definitions: [{
    name: job,
    runsOn: 'every-member',
    process: (id) => new Promise(() => process.stdout.write(id)),
  }],
  deps: {},
  ledger: {
    contracts: async (ids) => ids.map(() => null),
    dueItems: async () => [{ job, contractId, at: 0 }],
    onApplied: () => () => {},
  },
  isLive: () => true,
  turn: { index: 0, count: 1 },
})
`

it('runs a job of a killed process again, from the queue, within the stated time', {
  tags: ['rest'],
}, async ({ redis }) => {
  const contractId = `00${'ab'.repeat(32)}`
  using program = await bundleProgram(HANGING_PROCESS, import.meta.dirname)
  const args = [program.file, redis.socketPath, 'jobs', JOB, contractId]
  const killed = spawn(process.execPath, args)
  const [running] = await once(killed.stdout, 'data')
  expect(String(running)).toBe(contractId)
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  await using client = withDispose(redis.connect())
  const lockMs = await client.redis.pttl(`jobs:${JOB}:${contractId}:lock`)
  expect(lockMs).toBeGreaterThan(0)
  expect(lockMs).toBeLessThan(RECOVERY_MS_MAX)
  // This ledger has nothing due: the job is only in the queue.
  const world = createDueLedger(JOB)
  const runs: string[] = []
  await using _jobs = await startJobs(redis, world.ledger, async (id) => {
    runs.push(id)
  })
  await untilTrue('the job to run again', () => runs.length > 0)
  expect(runs).toEqual([contractId])
})

it('keeps queued jobs over an orderly restart until the replica has caught up', async ({
  redis,
}) => {
  const world = createDueLedger(JOB)
  world.add(1)
  const [contractId] = [...world.due.keys()]
  let isRunning = false
  const first = await startJobs(redis, world.ledger, (_id, { signal }) => {
    isRunning = true
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  })
  await untilTrue('the job to run', () => isRunning)
  await first[Symbol.asyncDispose]()
  await using client = withDispose(redis.connect())
  expect(await client.redis.zrange(`jobs:${JOB}:delayed`, '0', '-1')).toEqual([contractId])
  const runs: string[] = []
  let asked = 0
  let isLive = false
  const work: JobDefinition<object>['process'] = async (id) => {
    runs.push(id)
  }
  await using _second = await startJobs(redis, createDueLedger(JOB).ledger, work, {
    isLive: () => {
      asked += 1
      return isLive
    },
  })
  await untilTrue('two sweeps', () => asked >= 2)
  // No job has run, because the replica is still catching up.
  expect(runs).toEqual([])
  isLive = true
  await untilTrue('the job to run again', () => runs.length > 0)
})

it('lists a dropped job once, and adds it again for its operator', async ({ redis }) => {
  const world = createDueLedger(JOB)
  world.add(2)
  const [repaired = '', broken = ''] = [...world.due.keys()]
  let isRepaired = false
  const runs: string[] = []
  await using _jobs = await startJobs(redis, world.ledger, async (id) => {
    runs.push(id)
    if (id === broken || !isRepaired) throw new ScanError('CHOICE_REFUSED', 'not yet')
    world.apply(id)
  })
  await untilTrue('both failures', async () => (await failuresIn(redis)).length === 2)
  await using queues = await openQueues(redis)
  // The sweep does not add a dropped job again within a minute.
  isRepaired = true
  expect(await queues.retry({ job: 'unknown', contractId: repaired })).toBe(false)
  for (const contractId of [repaired, broken])
    expect(await queues.retry({ job: JOB, contractId })).toBe(true)
  await untilTrue('the repaired job to be done', () => !world.due.has(repaired))
  await untilTrue('the other to fail again', async () => (await failuresIn(redis)).length === 1)
  await queues.retry({ job: JOB, contractId: broken })
  await untilTrue('three runs of the broken job', () => count(runs, broken) === 3)
  const { failures, queues: counts } = await until('its failure', async () => {
    const listed = await queues.list()
    return listed.failures.length > 0 && listed.queues[JOB]?.active === 0 ? listed : undefined
  })
  expect(failures.map(({ contractId }) => contractId)).toEqual([broken])
  expect(counts[JOB]).toEqual({ waiting: 0, delayed: 0, active: 0 })
})

it('closes in bounded time with jobs running and Redis dead', async () => {
  await using redis = await startRedis()
  const world = createDueLedger(JOB)
  world.add(1)
  let isRunning = false
  const jobs = await startJobs(redis, world.ledger, (_id, deps) => {
    isRunning = true
    return new Promise((_resolve, reject) => {
      deps.signal.addEventListener('abort', () => reject(deps.signal.reason))
    })
  })
  await until('the job to run', () => (isRunning ? true : undefined))
  await redis.kill()
  // BullMQ would wait for its Redis without end.
  await jobs[Symbol.asyncDispose]()
})

it('does nothing while the replica catches up', async ({ redis }) => {
  const world = createDueLedger(JOB)
  world.add(1)
  let isLive = false
  let asked = 0
  await using _jobs = await startJobs(redis, world.ledger, async (id) => world.apply(id), {
    isLive: () => {
      asked += 1
      return isLive
    },
  })
  await until('two sweeps', () => (asked >= 2 ? true : undefined))
  expect(world.due.size).toBe(1)
  isLive = true
  await until('the job to be done', () => (world.due.size === 0 ? true : undefined))
})

it('refuses a Redis that may evict keys', async () => {
  await using redis = await startRedis(['--maxmemory-policy', 'allkeys-lru'])
  const world = createDueLedger(JOB)
  await expect(startJobs(redis, world.ledger, async () => {})).rejects.toThrow(/noeviction/)
})

function openQueues(redis: SharedRedis) {
  return openProcessQueues({ redis: { path: redis.socketPath }, kind: 'scan', clock })
}

async function failuresIn(redis: SharedRedis) {
  await using queues = await openQueues(redis)
  return (await queues.list()).failures
}

function count(runs: readonly string[], id: string): number {
  return runs.filter((one) => one === id).length
}

function withDispose(redis: Redis) {
  return { redis, [Symbol.asyncDispose]: async () => redis.disconnect() }
}
