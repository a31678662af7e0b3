/** How long the runner waits for a service, and what it says meanwhile. */
import { join } from 'node:path'
import { createDirectory, createManualClock, serve, until } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import type { Service } from './service.ts'
import { ServiceRunner } from './service-runner.ts'

/** A scan node with a Redis of the operator's own: its process runs, and `answer` is what `/readyz` answers. */
async function createWorld() {
  const answer = { status: 503, body: { code: 'NOT_READY', error: 'the log does not answer' } }
  const server = await serve(
    (_, response) => void response.writeHead(answer.status).end(JSON.stringify(answer.body)),
  )
  const { path: directory, ...temporary } = createDirectory()
  const clock = createManualClock()
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
    isExternal: true,
    redis: spec('sv-1.redis'),
    redisAddress: { path: '', password: '' },
    redisDirectory: directory,
    redisConfig: { file: '', text: '' },
    redisMemoryBytes: 0,
  }
  const runner = new ServiceRunner({
    recordFile: join(directory, 'processes.json'),
    marker: directory,
    clock,
    services: [service],
    isCluster: false,
  })
  await runner.startApp(service)
  return {
    runner,
    service,
    answer,
    clock,
    async [Symbol.asyncDispose]() {
      await runner.stopAll()
      await server[Symbol.asyncDispose]()
      temporary[Symbol.dispose]()
    },
  }
}

it('a service that is late says so once a minute, and is ready at last', async () => {
  await using world = await createWorld()
  const { runner, service, answer, clock } = world
  await expect(
    Promise.race([
      runner.untilUp(service),
      until('more than a minute', async () => {
        await clock.advance(5000)
        return clock.monotonicMs() > 600_000 ? true : undefined
      }),
    ]),
  ).rejects.toThrow('sv-1 is catching up; the log does not answer')

  const said: { readonly sentence: string; readonly ms: number }[] = []
  let isReady = false
  const waiting = runner
    .untilUpAtLast(service, (sentence) => said.push({ sentence, ms: clock.monotonicMs() }))
    .then(() => {
      isReady = true
    })
  await until('two sentences', async () => {
    await clock.advance(5000)
    return said.length === 2 ? true : undefined
  })
  const [first, second] = said
  expect(new Set(said.map(({ sentence }) => sentence))).toEqual(
    new Set(['sv-1 is catching up; the log does not answer']),
  )
  expect((second?.ms ?? 0) - (first?.ms ?? 0)).toBeGreaterThanOrEqual(60_000)
  expect(isReady).toBe(false)
  answer.status = 200
  await until('it to be ready', async () => {
    await clock.advance(5000)
    return isReady ? true : undefined
  })
  await waiting
})

it('the wait ends when everything is stopped, without a sentence', async () => {
  const world = await createWorld()
  const said: string[] = []
  const waiting = world.runner.untilUpAtLast(world.service, (sentence) => said.push(sentence))
  const ended = expect(waiting).rejects.toThrow('everything is being stopped')
  await world[Symbol.asyncDispose]()
  await ended
  expect(said).toEqual([])
})
