import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { createDirectory, serve, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import type { Service } from './service.ts'
import { createServiceHealth } from './service-health.ts'
import { endLeftovers, Supervisor } from './supervisor.ts'

const clock = createSystemClock()

/** A scan node whose processes run, and which answers `/readyz` with this error. */
async function createWorld({
  code = 'STATE_DIVERGED',
  error,
  isRedisBroken = false,
}: {
  readonly code?: string
  readonly error: string
  readonly isRedisBroken?: boolean
}) {
  const body = JSON.stringify({ code, error, retryable: false })
  const server = await serve((_, response) => void response.writeHead(503).end(body))
  const { path: directory, ...temporary } = createDirectory()
  const options = { recordFile: join(directory, 'processes.json'), marker: directory, clock }
  const supervisor = new Supervisor(options)
  const spec = (id: string) => ({
    id,
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1e6)'],
    env: process.env,
    logFile: join(directory, `${id}.log`),
  })
  const service: Service = {
    name: 'sv-1',
    kind: 'scan',
    owner: 'sv-1',
    engineDirectory: null,
    url: server.url,
    ports: [],
    app: spec('sv-1'),
    redis: spec('sv-1.redis'),
    redisAddress: { path: '', password: '' },
    redisDirectory: directory,
    redisConfig: { file: '', text: '' },
    redisMemoryBytes: 0,
  }
  await supervisor.start(service.app)
  await supervisor.start(service.redis)
  const exits = {
    exitOf: () => null,
    isCrashLooping: (id: string) => isRedisBroken && id.endsWith('.redis'),
  }
  const health = createServiceHealth({ supervisor, exits, isCluster: true })
  health.begin(service)
  return {
    health,
    service,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await endLeftovers(options)
      await untilTrue('the ends to be noticed', () => supervisor.pid('sv-1') === null)
      temporary[Symbol.dispose]()
    },
  }
}

it.each(['the replica is of another log', 'The replica is of another log.'])(
  'puts the reason "%s" and what to do into one sentence',
  async (error) => {
    await using world = await createWorld({ error })
    await world.health.ask(world.service)
    expect(world.health.describeTrouble(world.service)).toMatch(
      /^sv-1 is catching up; [Tt]he replica is of another log; `quorumscan wipe sv-1` rebuilds it/,
    )
  },
)

it.each(['LOG_FORK', 'LOG_REGRESSED', 'ORDERING_HALTED', 'SOFTWARE_OUTDATED', 'INTERNAL'])(
  'advises to delete nothing after %s: the replica may be the only copy of what it holds',
  async (code) => {
    await using world = await createWorld({ code, error: 'the log is shorter' })
    await world.health.ask(world.service)
    expect(world.health.describeTrouble(world.service)).toBe(
      'sv-1 is catching up; the log is shorter; `quorumscan logs sv-1` shows more',
    )
  },
)

it.each([
  [
    'Failed opening Unix socket: unix socket path too long (128), must be under 108',
    'Redis reports "Failed opening Unix socket: unix socket path too long (128), must be under 108"; `quorumscan logs sv-1.redis` shows more',
  ],
  [
    'Bad file format reading the append only file appendonly.aof.1.incr.aof: make a backup',
    'Redis reports "Bad file format reading the append only file appendonly.aof.1.incr.aof: make a backup"; `quorumscan wipe sv-1` rebuilds it from the log; `quorumscan logs sv-1.redis` shows more',
  ],
])('advises to rebuild a replica only if Redis reports damage: %s', async (warning, advice) => {
  await using world = await createWorld({ code: 'NOT_READY', error: '', isRedisBroken: true })
  writeFileSync(world.service.redis.logFile ?? '', `7:M 29 Nov 2026 01:22:10.280 # ${warning}\n`)
  expect(world.health.describeTrouble(world.service)).toBe(`sv-1 is starting; ${advice}`)
})
