import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import type { Service } from './service.ts'
import { createServiceHealth } from './service-health.ts'
import { endLeftovers, Supervisor } from './supervisor.ts'

const clock = createSystemClock()

/** A scan node whose processes run, and which answers `/readyz` with this reason. */
async function createWorld(reason: string) {
  const body = JSON.stringify({ code: 'INTERNAL', error: reason, retryable: false })
  const server = createServer((_, response) => response.writeHead(503).end(body))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const directory = await mkdtemp(join(tmpdir(), 'qs-service-health-'))
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
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
      server.close()
      await endLeftovers(options)
      await untilTrue('the ends to be noticed', () => supervisor.pid('sv-1') === null)
      await rm(directory, { recursive: true, force: true })
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
