import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { createDirectory, serve, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import type { Service } from './service.ts'
import { createServiceHealth } from './service-health.ts'
import { endLeftovers, Supervisor } from './supervisor.ts'

const clock = createSystemClock()

/** A scan node whose processes run, and which answers `/readyz` with this reason. */
async function createWorld(reason: string) {
  const body = JSON.stringify({ code: 'INTERNAL', error: reason, retryable: false })
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
    faultSocket: '',
    redis: spec('sv-1.redis'),
    redisAddress: { path: '', password: '' },
    redisDirectory: directory,
    redisConfig: { file: '', text: '' },
  }
  await supervisor.start(service.app)
  await supervisor.start(service.redis)
  const exits = { exitOf: () => null, isCrashLooping: () => false }
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
  async (reason) => {
    await using world = await createWorld(reason)
    await world.health.ask(world.service)
    expect(world.health.describeTrouble(world.service)).toMatch(
      /^sv-1 is catching up; [Tt]he replica is of another log; `quorumscan wipe sv-1` rebuilds it/,
    )
  },
)
