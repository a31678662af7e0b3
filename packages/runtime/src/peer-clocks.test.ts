/** Peers on loopback, asked by a clock that the test moves. */
import { createManualClock, freePort, serve, untilTrue } from '@quorumscan/testkit'
import { formatInstant } from '@quorumscan/verifier'
import { afterEach, expect, it } from 'vitest'
import { createLogger } from './logger.ts'
import { createMetrics } from './metrics.ts'
import type { Peer } from './peer-addresses.ts'
import { createPeerClocks } from './peer-clocks.ts'

const READ_MS = 500
const closing: (() => PromiseLike<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A peer that follows the log while it answers. */
async function startPeer(clock: { nowMicros(): number }) {
  const peer = { answers: true, requestCount: 0, url: '', state: null as string | null }
  const server = await serve((_, response) => {
    peer.requestCount++
    if (!peer.answers) return response.destroy()
    response.setHeader('x-clock', String(clock.nowMicros()))
    response.setHeader('x-ledger-head', '7')
    response.setHeader('x-ledger-head-time', formatInstant(clock.nowMicros()))
    if (peer.state !== null) response.setHeader('x-state', peer.state)
    return response.end()
  })
  peer.url = server.url
  closing.push(() => server[Symbol.asyncDispose]())
  return peer
}

function startClocks(peers: readonly Peer[], clock = createManualClock()) {
  const metrics = createMetrics()
  const logger = createLogger({ name: 'test', level: 'silent' })
  const clocks = createPeerClocks({ peers, needed: 1, clock, logger, metrics })
  closing.push(() => clocks[Symbol.asyncDispose]())
  const silentSeconds = async (name: string) => {
    const { text } = await metrics.expose()
    const line = new RegExp(`^quorumscan_node_silent_seconds\\{node="${name}"\\} (.*)$`, 'm')
    return Number(line.exec(text)?.[1])
  }
  /** Lets rounds begin until the condition holds. */
  const untilRound = (what: string, isSo: () => boolean | Promise<boolean>) =>
    untilTrue(what, async () => {
      await clock.advance(READ_MS)
      return await isSo()
    })
  return { clocks, clock, silentSeconds, untilRound }
}

it('measures how long a peer is silent, from the start of the process for one that never answered', async () => {
  const clock = createManualClock()
  const peer = await startPeer(clock)
  const dead = { name: 'sv-2', url: `http://127.0.0.1:${await freePort()}` }
  const { clocks, silentSeconds, untilRound } = startClocks(
    [{ name: 'sv-1', url: peer.url }, dead],
    clock,
  )
  expect([await silentSeconds('sv-1'), await silentSeconds('sv-2')]).toEqual([0, 0])
  await untilTrue('the first answer', () => clocks.answerOf('sv-1') === 'following')
  await clock.advance(30_000)
  expect(await silentSeconds('sv-2')).toBe(30)
  await untilRound('sv-1 to be heard', async () => (await silentSeconds('sv-1')) < 1)

  peer.answers = false
  await untilRound('sv-1 to be missed', () => clocks.answerOf('sv-1') === 'silent')
  const before = await silentSeconds('sv-1')
  await clock.advance(40_000)
  expect(await silentSeconds('sv-1')).toBe(before + 40)

  peer.answers = true
  await untilRound('sv-1 to be heard again', async () => (await silentSeconds('sv-1')) < 1)
  expect(clocks.answerOf('sv-1')).toBe('following')
})

it('asks a peer at its address on the ledger, else at the configured one', async () => {
  const clock = createManualClock()
  const [old, moved] = [await startPeer(clock), await startPeer(clock)]
  old.answers = false
  const { clocks, untilRound } = startClocks([{ name: 'sv-1', url: old.url }], clock)
  await untilTrue('it to be asked', () => old.requestCount > 0)
  expect(clocks.answerOf('sv-1')).toBe('silent')

  clocks.follow(async () => [{ name: 'sv-1', url: moved.url }])
  await untilRound('it to be found', () => clocks.answerOf('sv-1') === 'following')
  const count = old.requestCount
  await untilRound('more rounds', () => moved.requestCount > 3)
  expect(old.requestCount).toBe(count)

  moved.answers = false
  await untilRound('it to be missed', () => clocks.answerOf('sv-1') === 'silent')
  old.answers = true
  await untilRound('it to be found where it was', () => clocks.answerOf('sv-1') === 'following')
})

it('asks no private address that a peer with a public one names', async () => {
  const clock = createManualClock()
  const victim = await startPeer(clock)
  const { clocks, untilRound } = startClocks(
    [{ name: 'sv-1', url: 'https://sv-1.example.invalid' }],
    clock,
  )
  let readCount = 0
  clocks.follow(async () => {
    readCount++
    return [{ name: 'sv-1', url: victim.url }]
  })
  await untilRound('some rounds', () => readCount > 3)
  expect(victim.requestCount).toBe(0)
})

it('continues if the addresses cannot be read', async () => {
  const clock = createManualClock()
  const peer = await startPeer(clock)
  const { clocks, untilRound } = startClocks([{ name: 'sv-1', url: peer.url }], clock)
  const read = { count: 0 }
  clocks.follow(() => {
    read.count++
    return Promise.reject(new Error('no Redis'))
  })
  await untilRound('it to be read again', () => read.count > 1)
  await untilTrue('an answer', () => clocks.answerOf('sv-1') === 'following')
})

it('asks often for a peer that starts at the same time, and no longer than at the start', async () => {
  const manual = createManualClock()
  let pauses = 0
  const clock = {
    ...manual,
    delay(ms: number, signal?: AbortSignal) {
      if (ms === READ_MS) pauses++
      return manual.delay(ms, signal)
    },
  }
  const [early, late] = [await startPeer(clock), await startPeer(clock)]
  late.answers = false
  const peers = [
    { name: 'sv-1', url: early.url },
    { name: 'sv-2', url: late.url },
    { name: 'sv-3', url: `http://127.0.0.1:${await freePort()}` },
  ]
  const { clocks } = startClocks(peers, clock)
  const endRound = async () => {
    const before = pauses
    await manual.advance(READ_MS)
    await untilTrue('the next pause', () => pauses > before)
  }
  await untilTrue('the end of the first round', () => pauses === 1)
  late.answers = true
  await endRound()
  expect(clocks.answerOf('sv-2')).toBe('following')
  // sv-3 never answers.
  while (manual.monotonicMs() < 20_000) await endRound()
  const { requestCount } = early
  for (let round = 0; round < 20; round++) await endRound()
  expect(early.requestCount - requestCount).toBe(2)
})

it('a peer that says that it does no work does not follow; an older release says nothing', async () => {
  const clock = createManualClock()
  const peer = await startPeer(clock)
  const { clocks, untilRound } = startClocks([{ name: 'sv-1', url: peer.url }], clock)
  await untilTrue('an answer', () => clocks.answerOf('sv-1') === 'following')
  for (const state of ['diverged', 'clock-off', 'clock-behind', 'halted', 'starting']) {
    peer.state = state
    await untilRound(`${state} to be read`, () => clocks.answerOf('sv-1') === 'behind')
    peer.state = state === 'halted' ? 'catching-up' : 'live'
    await untilRound('it to work', () => clocks.answerOf('sv-1') === 'following')
  }
})
