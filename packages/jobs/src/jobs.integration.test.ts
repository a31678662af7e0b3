import { type Clock, createSystemClock, systemRandom } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { DueItem, Ledger } from '@quorumscan/ledger'
import { startRedis, type TestRedis, until, untilTrue } from '@quorumscan/testkit'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import type { JobDefinition } from './job.ts'
import { Jobs, type JobsOptions } from './jobs.ts'

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
    isPartyAllocated: async () => true,
    dueItems: async ({ limit, after }) => {
      const items = [...due.values()]
      const from =
        after === null ? 0 : items.findIndex((item) => item.contractId === after.contractId) + 1
      return items.slice(from, from + limit)
    },
    dryRun: async () => ({ kind: 'checkpoint' }),
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
const logged: { fields: object; message: string }[] = []
const log = {
  info: () => {},
  warn: (fields: object, message: string) => logged.push({ fields, message }),
}

function startJobs(
  redis: TestRedis,
  ledger: Ledger,
  process: JobDefinition<object>['process'],
  {
    isLive = () => true,
    ...ports
  }: Partial<Pick<JobsOptions<object>, 'isLive' | 'clock' | 'random'>> = {},
) {
  return Jobs.create({
    redis: { path: redis.socketPath },
    definitions: [{ name: JOB, doc: '', share: 'every', process }],
    deps: {},
    ledger,
    isLive,
    member: { index: 0, count: 1 },
    clock,
    random: systemRandom,
    log,
    ...ports,
  })
}

it('does all that is due, each once, and leaves nothing in Redis', async () => {
  await using redis = await startRedis()
  const world = createDueLedger(JOB)
  world.add(700)
  await using jobs = await startJobs(redis, world.ledger, async (id) => world.apply(id))
  await until('all to be done', () => (world.due.size === 0 ? true : undefined))
  expect([...world.effects.values()].every((count) => count === 1)).toBe(true)
  await until('the queue to be empty', async () => {
    const counts = (await jobs.counts()).get(JOB)
    return counts?.waiting === 0 && counts.active === 0 ? true : undefined
  })
  await using client = withDispose(redis.connect())
  expect(await client.redis.keys(`jobs:${JOB}:00*`)).toEqual([])
})

it('tries again what may succeed later, and does it in the end', async () => {
  await using redis = await startRedis()
  const world = createDueLedger(JOB)
  world.add(1)
  let runs = 0
  await using jobs = await startJobs(redis, world.ledger, async (id) => {
    runs += 1
    if (runs === 1) throw new ScanError('SUBMISSION_UNKNOWN', 'not seen')
    if (runs === 2) throw new ScanError('CONTRACT_CONSUMED', 'DsoRules was replaced')
    world.apply(id)
  })
  await until('the job to succeed', () => (world.due.size === 0 ? true : undefined))
  expect(runs).toBe(3)
  expect(await jobs.failures()).toEqual([])
})

it('reads again and acts again at once when the ledger moved on meanwhile', async () => {
  await using redis = await startRedis()
  const world = createDueLedger(JOB)
  world.add(10)
  const runs = new Map<string, number>()
  // Each wait of a queue draws a number.
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
  await using jobs = await startJobs(redis, world.ledger, process, { random })
  await until('the jobs to succeed', () => (world.due.size === 0 ? true : undefined))
  expect([...runs.values()]).toEqual(Array(10).fill(3))
  expect(waitCount).toBe(0)
  expect(await jobs.failures()).toEqual([])
})

it('drops what can never succeed, says why, and does not come back to it at once', async () => {
  await using redis = await startRedis()
  const world = createDueLedger(JOB)
  world.add(2)
  const [refused, broken] = [...world.due.keys()]
  const runs: string[] = []
  await using jobs = await startJobs(redis, world.ledger, async (id) => {
    runs.push(id)
    if (id === refused) throw new ScanError('CHOICE_REFUSED', 'not yet expired')
    throw new TypeError('a bug')
  })
  const failures = await until('both failures', async () => {
    const recorded = await jobs.failures()
    return recorded.length === 2 ? recorded : undefined
  })
  expect(failures.find((failure) => failure.contractId === refused)).toMatchObject({
    job: JOB,
    code: 'CHOICE_REFUSED',
    message: 'not yet expired',
    attempts: 1,
  })
  expect(failures.find((failure) => failure.contractId === broken)?.code).toBe('INTERNAL')
  // A kept one would make BullMQ ignore the next add (Rule 7).
  await using client = withDispose(redis.connect())
  await until('the jobs to be gone', async () =>
    (await client.redis.keys(`jobs:${JOB}:00*`)).length === 0 ? true : undefined,
  )
  // A new contract proves that another sweep has passed over the dropped ones.
  world.add(1)
  await until('a later sweep', () => (runs.length >= 3 ? true : undefined))
  expect(runs.filter((id) => id === refused)).toHaveLength(1)
})

it('leaves alone for a while what asked for it', async () => {
  await using redis = await startRedis()
  const world = createDueLedger(JOB)
  world.add(1)
  const [patient] = [...world.due.keys()]
  const runs: string[] = []
  await using jobs = await startJobs(redis, world.ledger, async (id, { restFor }) => {
    runs.push(id)
    restFor(id === patient ? 3_600_000 : 0)
  })
  await until('the first run', () => (runs.length > 0 ? true : undefined))
  world.add(1)
  await until('another job twice', () => (runs.length >= 3 ? true : undefined))
  expect(runs.filter((id) => id === patient)).toHaveLength(1)
  expect(await jobs.failures()).toEqual([])
})

it('goes on by itself after Redis was killed, and loses nothing', async () => {
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
  // Without another try the process would end.
  let failedCount = 0
  const delay: Clock['delay'] = (ms, signal) => {
    failedCount += 1
    return clock.delay(ms, signal)
  }
  const starting = startJobs(redis, world.ledger, async (id) => world.apply(id), {
    clock: { ...clock, delay },
  })
  await untilTrue('a write that failed', () => failedCount > 0)
  await client.redis.call('CLIENT', 'UNPAUSE')
  await using _jobs = await starting
  await until('the job to be done', () => (world.due.size === 0 ? true : undefined))
})

it('says that Redis is away, but not all the time', async () => {
  await using redis = await startRedis()
  await using _jobs = await startJobs(redis, createDueLedger(JOB).ledger, async () => {})
  const before = logged.length
  const lines = (message: string) =>
    logged.slice(before).filter((line) => line.message.includes(message)).length
  await redis.kill()
  await until('two sweeps to fail', () => (lines('sweep') >= 2 ? true : undefined))
  expect(lines('')).toBeGreaterThan(2)
  expect(lines('')).toBeLessThanOrEqual(6)
})

it('takes up at once what a killed process was working on', async () => {
  await using redis = await startRedis()
  const world = createDueLedger(JOB)
  world.add(1)
  const [contractId] = [...world.due.keys()]
  const connection = new Redis({ path: redis.socketPath, maxRetriesPerRequest: null })
  const queue = new Queue(JOB, { connection, prefix: 'jobs' })
  await queue.add(JOB, null, { jobId: contractId ?? '' })
  const lockDuration = 3_600_000 // What waits for the end of the lock fails.
  const killed = new Worker(JOB, null, {
    ...{ connection, prefix: 'jobs', autorun: false, lockDuration },
  })
  expect((await killed.getNextJob('token'))?.id).toBe(contractId)
  await using _jobs = await startJobs(redis, world.ledger, async (id) => world.apply(id))
  await untilTrue('the job to be done', () => world.due.size === 0)
  await killed.close()
  await queue.close()
  connection.disconnect()
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

it('does nothing while the replica catches up', async () => {
  await using redis = await startRedis()
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

function withDispose(redis: Redis) {
  return { redis, [Symbol.asyncDispose]: async () => redis.disconnect() }
}
