/** Measures streams of updates: a backlog to one client, its memory, and the cost of idle subscribers. */
import { connect, type Socket } from 'node:net'
import { assert, createSystemClock, median } from '@quorumscan/base'
import { createTestNetwork, startRedis, type TestRedis, testKeyPair } from '@quorumscan/testkit'
import { startChild } from '../../support/child.ts'
import { atLeast, atMost, print, printRow, round } from '../report.ts'
import { growUpdates } from './grow.ts'
import type { PlainAnswer, PlainArgument } from './plain-child.ts'
import { openStream, payloadsOf, received, wireBytesOf } from './raw-client.ts'
import type { ValidatorAnswer, ValidatorArgument } from './validator-child.ts'

export type StreamsOptions = {
  /** Updates of the backlog. */
  readonly updateCount: number
  readonly turns: number
  readonly subscriberCount: number
  /** Duration of the measurement of idle subscribers. */
  readonly ms: number
}

const VALIDATOR = 'bench/streams/validator-child'
const PLAIN = 'bench/streams/plain-child'
const PLAIN_KEY = 'plain'
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']
/** Divisor of the backlog, for the part with whose memory the whole is compared. */
const PART = 10
const MEMORY_INTERVAL_MS = 50
const MEBIBYTE = 1_048_576

const clock = createSystemClock()

type Backlog = {
  readonly redis: TestRedis
  readonly plain: TestRedis
  readonly party: string
  /** Payload size of each element. */
  readonly payloadBytes: readonly number[]
}

export async function measureStreams(options: StreamsOptions): Promise<void> {
  await using redis = await startRedis(DURABLE)
  await using plain = await startRedis()
  const startedMs = clock.monotonicMs()
  const party = await growUpdates({
    network: createTestNetwork(),
    socketPath: redis.socketPath,
    keyPair: testKeyPair('bench'),
    count: options.updateCount,
  })
  const seconds = (clock.monotonicMs() - startedMs) / 1_000
  print(`${options.updateCount} updates applied in ${round(seconds)} s`)
  const backlog = { redis, plain, party, payloadBytes: await copyElements({ redis, plain, party }) }
  await measureRate(backlog, options)
  await measureMemory(backlog)
  await measureIdle(backlog, options)
}

const requestOf = (party: string, range: object) => ({
  ...range,
  updateFormat: {
    includeTransactions: {
      eventFormat: { filtersByParty: { [party]: {} }, verbose: false },
      transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
    },
  },
})

function startValidator({ redis, party }: Pick<Backlog, 'redis' | 'party'>) {
  const { socketPath } = redis
  return startChild(VALIDATOR, { socketPath, party } satisfies ValidatorArgument)
}

/** Reads the stream once, and stores its elements for the plain loop. */
async function copyElements(backlog: Omit<Backlog, 'payloadBytes'>): Promise<readonly number[]> {
  await using child = startValidator(backlog)
  const server = await child.result<ValidatorAnswer>()
  const socket = await openStream(server, await requestOfPart(server, backlog.party))
  const client = backlog.plain.connect()
  const sizes: number[] = []
  try {
    for await (const payloads of payloadsOf(socket)) {
      const pipeline = client.pipeline()
      for (const payload of payloads) {
        sizes.push(payload.byteLength)
        pipeline.xadd(PLAIN_KEY, `${sizes.length}-0`, '', payload)
      }
      await pipeline.exec()
    }
  } finally {
    client.disconnect()
  }
  return sizes
}

async function requestOfPart(server: ValidatorAnswer, party: string, part = 1) {
  const { offset } = await ledgerEnd(server)
  return requestOf(party, { beginExclusive: 0, endInclusive: Math.floor(offset / part) })
}

async function ledgerEnd({ url, token }: ValidatorAnswer): Promise<{ offset: number }> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/v2/state/ledger-end`, { headers })
  assert(answer.status === 200, `the validator answers, not ${answer.status}`)
  return (await answer.json()) as { offset: number }
}

async function measureRate(backlog: Backlog, { turns }: StreamsOptions): Promise<void> {
  const { payloadBytes, plain, party } = backlog
  const perSecond = async (socket: Promise<Socket>, bytes: number) => {
    const startedMs = clock.monotonicMs()
    const open = await socket
    await received(open, bytes)
    const ms = clock.monotonicMs() - startedMs
    open.destroy()
    return (payloadBytes.length * 1_000) / ms
  }
  const streamed = async () => {
    await using child = startValidator(backlog)
    const server = await child.result<ValidatorAnswer>()
    const request = await requestOfPart(server, party)
    return await perSecond(openStream(server, request), wireBytesOf(payloadBytes))
  }
  const plainly = async () => {
    const argument: PlainArgument = { socketPath: plain.socketPath, key: PLAIN_KEY }
    await using child = startChild(PLAIN, argument)
    const { port } = await child.result<PlainAnswer>()
    const socket = connect(port, '127.0.0.1')
    socket.write('go')
    const bytes = payloadBytes.reduce((sum, size) => sum + size, 0)
    return await perSecond(Promise.resolve(socket), bytes)
  }
  const pairs: { streamed: number; plain: number }[] = []
  for (let each = 0; each < turns; each++)
    pairs.push({ plain: await plainly(), streamed: await streamed() })
  const bytes = payloadBytes.reduce((sum, size) => sum + size, 0) / payloadBytes.length
  print(
    `updates/s to one client, of ${round(bytes)} bytes: ` +
      `${round(median(pairs.map((pair) => pair.streamed)))}; ` +
      `the plainest loop: ${round(median(pairs.map((pair) => pair.plain)))}`,
  )
  printRow({
    what: `${payloadBytes.length} updates to one client, updates/s ÷ the plainest loop`,
    values: pairs.map((pair) => pair.streamed / pair.plain),
    budget: atLeast(0.3),
  })
}

/** Highest resident memory of the validator while it streams, MiB. */
async function measureMemory(backlog: Backlog): Promise<void> {
  const peakOf = async (part: number) => {
    await using child = startValidator(backlog)
    const server = await child.result<ValidatorAnswer>()
    const socket = await openStream(server, await requestOfPart(server, backlog.party, part))
    const sizes = backlog.payloadBytes.slice(0, Math.floor(backlog.payloadBytes.length / part) - 1)
    const ended = new AbortController()
    const reading = received(socket, wireBytesOf(sizes)).finally(() => ended.abort())
    let peak = 0
    while (!ended.signal.aborted) {
      peak = Math.max(peak, await residentBytes(server))
      await clock.delay(MEMORY_INTERVAL_MS, ended.signal).catch(() => {}) // Aborted: the loop ends.
    }
    await reading
    socket.destroy()
    return peak / MEBIBYTE
  }
  const part = await peakOf(PART)
  const whole = await peakOf(1)
  print(
    `memory at most, MiB: ${round(part)} for a ${PART}th of the backlog, ${round(whole)} for all`,
  )
  printRow({
    what: 'memory of the validator for all of the backlog ÷ for a part of it',
    values: [whole / part],
    budget: atMost(1.5),
  })
}

async function residentBytes({ url }: ValidatorAnswer): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1])
}

/** Commands per second to the validator's Redis, without and with idle subscribers. */
async function measureIdle(backlog: Backlog, options: StreamsOptions): Promise<void> {
  const { subscriberCount, ms } = options
  await using child = startValidator(backlog)
  const server = await child.result<ValidatorAnswer>()
  const client = backlog.redis.connect()
  const commands = async () =>
    Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1])
  const perSecond = async () => {
    const before = await commands()
    await clock.delay(ms)
    return ((await commands()) - before) / (ms / 1_000)
  }
  const { offset: beginExclusive } = await ledgerEnd(server)
  const alone = await perSecond()
  const sockets = await Promise.all(
    Array.from({ length: subscriberCount }, async () => {
      const socket = await openStream(server, requestOf(backlog.party, { beginExclusive }))
      // After the first checkpoint the stream waits at the end.
      await received(socket, 1)
      return socket
    }),
  )
  const together = await perSecond()
  for (const socket of sockets) {
    socket.removeAllListeners('close')
    socket.destroy()
  }
  client.disconnect()
  print(
    `Redis commands/s: ${round(alone)} alone, ${round(together)} with ${subscriberCount} idle subscribers`,
  )
  printRow({
    what: `Redis commands/s for each of ${subscriberCount} idle subscribers`,
    values: [Math.max(0, together - alone) / subscriberCount],
    budget: atMost(0.01),
  })
}
