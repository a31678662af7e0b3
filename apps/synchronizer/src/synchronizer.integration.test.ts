import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { connect as connectTo, type Socket } from 'node:net'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createSystemClock, systemRandom } from '@quorumscan/base'
import type { Rates } from '@quorumscan/config'
import { PLAIN_CONNECTIONS } from '@quorumscan/config'
import {
  allocatePartyCommand,
  ENTRY_BYTES_MAX,
  type LogEntry,
  type LogSource,
  transferCommand,
} from '@quorumscan/ledger'
import { createEntrySigner } from '@quorumscan/ledger/testing'
import { createLogClient, createOrderingClient, LOG_RULES, LOG_USER } from '@quorumscan/log'
import { createLogger } from '@quorumscan/runtime'
import {
  createDirectory,
  createTestNetwork,
  send,
  serve,
  startRedis,
  testKeyPair,
  until,
  untilTrue,
} from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { startSynchronizer } from './server.ts'

const network = createTestNetwork()
const clock = createSystemClock()
const never = new AbortController().signal

const TOKEN = 'token-of-a-peer-of-the-synchronizer'
const idOf = (index: number) => `00${String(index).padStart(64, '0')}`

const sign = createEntrySigner(() => ({
  genesis: network.genesisHash,
  notAfter: clock.nowMicros() + 60_000_000,
  userId: 'alice',
  commandId: 'allocate',
  commands: [allocatePartyCommand({ hint: 'alice' })],
}))

/** The clocks and heads that nodes report to the synchronizer. */
async function startNodes() {
  const reported = { head: 0, nowMicros: clock.nowMicros }
  const server = await serve((_request, response) => {
    const headers = {
      'x-clock': String(reported.nowMicros()),
      'x-ledger-head': String(reported.head),
      'content-length': '0',
    }
    response.writeHead(200, headers).end()
  })
  const { url } = server
  return { reported, nodes: network.genesis.nodes.map(({ name }) => ({ name, url })), server }
}

async function setUp(
  options: { fsync?: string; rates?: Partial<Rates>; diskFreeMibMin?: number } = {},
) {
  const { nodes, reported, server } = await startNodes()
  const { path: directory, ...temporary } = createDirectory()
  const file = async (name: string, text: string) => {
    await writeFile(join(directory, name), text)
    return join(directory, name)
  }
  const redis = await startRedis([
    '--appendonly',
    'yes',
    '--appendfsync',
    options.fsync ?? 'always',
    '--maxmemory-policy',
    'noeviction',
    '--user',
    LOG_USER,
    'on',
    '>w',
    ...LOG_RULES.split(' '),
  ])
  const config = {
    genesisFile: await file('genesis.json', JSON.stringify(network.genesis)),
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    tracesEndpoint: null,
    peersFile: null,
    connections: PLAIN_CONNECTIONS,
    ordering: {
      driver: 'redis' as const,
      redis: {
        place: { path: redis.socketPath },
        secretFiles: { password: await file('password', 'w\n') },
      },
      keyFile: await file('key', `${network.synchronizer.seed}\n`),
    },
    logDirectory: directory,
    diskFreeMibMin: options.diskFreeMibMin ?? 0,
    logKeepSeconds: 86_400,
    nodes,
    rateLimit: 100_000,
    entryRates: { anonymous: 10_000, peer: 10_000, superValidator: 10_000, ...options.rates },
    peerTokensFile: await file('peers', `${TOKEN}\n`),
    nodeTokensFile: null,
  }
  const start = async (overrides: Parameters<typeof startSynchronizer>[1] = {}) => {
    const synchronizer = await startSynchronizer(config, { logger, ...overrides })
    await untilTrue('the nodes to confirm the log', async () => {
      const ready = await send(`${synchronizer.url}/readyz`)
      return ready.status === 200 || ready.body?.code === 'LOG_FULL'
    })
    lastUrl = synchronizer.url
    return synchronizer
  }
  const logger = createLogger({ name: 'synchronizer', level: 'silent' })
  /** The URL of the synchronizer that was started last. */
  let lastUrl = ''
  const orderingOf = (log: LogSource) =>
    createOrderingClient({
      log,
      genesis: {
        hash: network.genesisHash,
        recordTime: network.genesis.recordTime,
        ordering: network.genesis.ordering,
      },
      clock,
      random: systemRandom,
    })
  /** Entries that are not checkpoints, up to the last of these. */
  const readUntil = async (last: Uint8Array): Promise<LogEntry[]> => {
    await using log = createLogClient({ url: lastUrl, token: TOKEN })
    const stop = new AbortController()
    const found: LogEntry[] = []
    const follow = { from: 0, expected: null, batchEntriesMax: 100, signal: stop.signal }
    for await (const batch of orderingOf(log).follow(follow)) {
      found.push(...batch.filter(({ bytes }) => bytes.byteLength > 0))
      if (found.some(({ bytes }) => hex(bytes) === hex(last))) stop.abort()
    }
    return found
  }
  return {
    redis,
    reported,
    readUntil,
    setTokens: (tokens: readonly string[]) => file('peers', `${tokens.join('\n')}\n`),
    start,
    /** The clock of synchronizer and nodes is stopped, so no budget is refilled. */
    startFrozen: () => {
      const nowMicros = clock.nowMicros()
      reported.nowMicros = () => nowMicros
      return start({ clock: { ...clock, nowMicros: () => nowMicros, monotonicMs: () => 0 } })
    },
    startAnyhow: () => startSynchronizer(config, { logger }),
    startWith: (others: typeof nodes) =>
      startSynchronizer({ ...config, nodes: others }, { logger }),
    [Symbol.asyncDispose]: async () => {
      await redis[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      temporary[Symbol.dispose]()
    },
  }
}

/** Flips four bytes, at the text, in the file of the Redis that holds the log. */
async function flipInLog(directory: string, text: string): Promise<void> {
  const files = join(directory, 'appendonlydir')
  for (const name of await readdir(files)) {
    const bytes = await readFile(join(files, name))
    const at = bytes.indexOf(text)
    if (at < 0) continue
    for (let byte = at; byte < at + 4; byte++) bytes[byte] = (bytes[byte] ?? 0) ^ 0xff
    await writeFile(join(files, name), bytes)
    return
  }
  throw new Error(`no file of the log holds ${text}`)
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

const becomes = (url: string, status: number) =>
  untilTrue(
    `readyz to answer ${status}`,
    async () => (await send(`${url}/readyz`)).status === status,
  )

async function post(url: string, body: Uint8Array, token?: string) {
  const {
    status,
    body: members,
    headers,
  } = await send(`${url}/v0/submit`, {
    method: 'POST',
    headers: {
      'content-type': 'application/octet-stream',
      ...(token === undefined ? {} : { 'x-peer-token': token }),
    },
    body,
  })
  return { status, ...members, retryAfter: headers.get('retry-after') }
}

/** Bytes in memory that are in use. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

describe('the synchronizer', () => {
  it('answers 200 once an entry is in the log, with unchanged bytes', async () => {
    await using own = await setUp()
    await using synchronizer = await own.start()
    const entries = [sign(), sign(), sign()]
    await using client = createLogClient({ url: synchronizer.url })
    await Promise.all(entries.map((bytes) => client.submit(bytes, never)))
    const last = sign()
    await client.submit(last, never)
    const read = (await own.readUntil(last)).map(({ bytes }) => hex(bytes))
    expect(read.sort()).toEqual([...entries, last].map(hex).sort())
  })

  it('makes a checkpoint at once when a client asks for one', async () => {
    await using own = await setUp()
    await using synchronizer = await own.start()
    await using client = createLogClient({ url: synchronizer.url })
    await client.submit(sign(), never)
    await client.submit(new Uint8Array(), never)
    const last = sign()
    await client.submit(last, never)
    const [first, second] = await own.readUntil(last)
    expect((second?.offset ?? 0) - (first?.offset ?? 0)).toBeGreaterThan(1)
  })

  it('refuses entries that every replica would ignore', async () => {
    await using own = await setUp()
    await using synchronizer = await own.start()
    const forged = sign()
    forged[50] = (forged[50] ?? 0) ^ 1
    const cases: [string, Uint8Array, number, RegExp][] = [
      ['garbage', Uint8Array.of(1, 2, 3), 400, /malformed/],
      ['a forged signature', forged, 400, /bad signature/],
      ['another network', sign({ genesis: '00'.repeat(32) }), 400, /other network/],
      ['too late', sign({ notAfter: 1 }), 503, /notAfter/],
      [
        'valid for too long',
        sign({ notAfter: clock.nowMicros() + 700e6 }),
        503,
        /clock of the participant/,
      ],
      ['too large', new Uint8Array(ENTRY_BYTES_MAX + 1), 413, /limit|at most/],
    ]
    for (const [what, bytes, status, error] of cases)
      expect(await post(synchronizer.url, bytes), what).toMatchObject({
        status,
        error: expect.stringMatching(error),
      })
    const last = sign()
    await post(synchronizer.url, last)
    expect(await own.readUntil(last)).toHaveLength(1)
  })

  it('appends repeated bytes once', async () => {
    await using own = await setUp()
    await using synchronizer = await own.start()
    const bytes = sign()
    for (let repeat = 0; repeat < 5; repeat++)
      expect(await post(synchronizer.url, bytes)).toMatchObject({ status: 200 })
    const last = sign()
    await post(synchronizer.url, last, TOKEN)
    expect(await own.readUntil(last)).toHaveLength(2)
  })

  it('answers 429 to an address that submits too much with any key, but not to peers', async () => {
    await using own = await setUp({ rates: { anonymous: 2 } })
    await using synchronizer = await own.startFrozen()
    const answers = []
    for (const label of ['a', 'b', 'c'])
      answers.push(await post(synchronizer.url, sign({}, testKeyPair(label))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(answers.at(-1)).toMatchObject({ code: 'RATE_LIMITED', retryAfter: '1' })
    await using peer = createLogClient({ url: synchronizer.url, token: TOKEN })
    await peer.submit(sign(), never)
    expect(await post(synchronizer.url, sign(), 'x'.repeat(32))).toMatchObject({ status: 429 })
  })

  it('charges bytes before an entry is decoded, also where it is refused', async () => {
    await using own = await setUp({ rates: { anonymous: 100 } })
    await using synchronizer = await own.startFrozen()
    const garbage = new Uint8Array(200 * 1024)
    expect(await post(synchronizer.url, garbage)).toMatchObject({ status: 400 })
    expect(await post(synchronizer.url, sign())).toMatchObject({ status: 429, retryAfter: '2' })
  })

  it('charges the contracts that an entry names, to its address and to its key', async () => {
    const naming = (count: number) =>
      transferCommand({
        coinRules: idOf(0),
        sender: `alice::1220${'00'.repeat(32)}`,
        inputs: Array.from({ length: count }, (_, index) => idOf(index + 1)),
        outputs: [],
      })
    const named = { commands: [naming(95)], actAs: [`alice::1220${'00'.repeat(32)}`] }
    let keys = 0
    const freshKey = () => testKeyPair(`fresh ${++keys}`)
    const operatorKey = () => network.operators[0]
    // 7 units of bytes and 6 of contracts.
    for (const [rates, keyOf, statuses] of [
      [{ anonymous: 14 }, freshKey, [200, 429]],
      [{ anonymous: 14, peer: 26 }, freshKey, [200, 200, 429]],
      [{ superValidator: 14 }, operatorKey, [200, 429]],
    ] as const) {
      await using own = await setUp({ rates })
      await using synchronizer = await own.startFrozen()
      const token = 'peer' in rates ? TOKEN : undefined
      const answers = []
      for (const _ of statuses)
        answers.push(await post(synchronizer.url, sign(named, keyOf()), token))
      expect(answers.map(({ status }) => status)).toEqual(statuses)
    }
  })

  it('refuses an entry that names too many contracts, with the reason', async () => {
    await using own = await setUp()
    await using synchronizer = await own.start()
    const inputs = (from: number) => Array.from({ length: 100 }, (_, index) => idOf(from + index))
    const sender = `alice::1220${'00'.repeat(32)}`
    const commands = [1, 101].map((from) =>
      transferCommand({ coinRules: idOf(0), sender, inputs: inputs(from), outputs: [] }),
    )
    const answer = await post(synchronizer.url, sign({ commands, actAs: [sender] }))
    expect(answer).toMatchObject({
      status: 409,
      code: 'LIMIT_EXCEEDED',
      error: expect.stringContaining('at most 200 contracts'),
    })
  })

  it('answers 503 while Redis is down, and continues when it is up again', async () => {
    await using own = await setUp()
    await using synchronizer = await own.start()
    await post(synchronizer.url, sign())
    await own.redis.kill()
    await becomes(synchronizer.url, 503)
    expect(await post(synchronizer.url, sign())).toMatchObject({
      status: 503,
      code: 'DEPENDENCY_UNAVAILABLE',
    })
    await own.redis.restart()
    await becomes(synchronizer.url, 200)
    const last = sign()
    expect(await post(synchronizer.url, last)).toMatchObject({ status: 200 })
    expect((await own.readUntil(last)).length).toBeGreaterThanOrEqual(2)
    const status = (await send(`${synchronizer.url}/status`)).body as {
      success: { active: boolean; extra: { state: string; offset: number } }
    }
    expect(status.success).toMatchObject({ active: true, extra: { state: 'live' } })
    expect(status.success.extra.offset).toBeGreaterThanOrEqual(2)
  })

  it('answers a definite 503 while the disk has too little room, and record time advances', async () => {
    await using own = await setUp({ diskFreeMibMin: 1_048_576 })
    await using synchronizer = await own.start()
    expect(await post(synchronizer.url, sign())).toMatchObject({
      status: 503,
      code: 'LOG_FULL',
      definite: true,
      retryable: true,
      retryAfter: '1',
    })
    await using client = createLogClient({ url: synchronizer.url })
    await expect(client.submit(sign(), never)).rejects.toMatchObject({ code: 'LOG_FULL' })
    const ready = await send(`${synchronizer.url}/readyz`)
    expect([ready.status, ready.body]).toMatchObject([503, { code: 'LOG_FULL' }])
    expect(await client.readiness(never)).toMatchObject({ code: 'LOG_FULL' })
    expect((await send(`${synchronizer.url}/metrics`)).text).toContain('quorumscan_log_full 1\n')
    const head = async () => {
      const answer = await send(`${synchronizer.url}/status`)
      return answer.body.success.extra.offset
    }
    const before = await head()
    await untilTrue('a checkpoint', async () => (await head()) > before)
  })

  it('answers submissions in progress before it stops, and continues after a restart', async () => {
    await using own = await setUp()
    const first = await own.start()
    const entries = Array.from({ length: 20 }, () => sign())
    const answers = entries.map((bytes) => post(first.url, bytes))
    await Promise.race(answers)
    await first[Symbol.asyncDispose]()
    await first.failed
    const settled = await Promise.allSettled(answers)
    const accepted = entries.filter((_, index) => {
      const answer = settled[index]
      return answer?.status === 'fulfilled' && answer.value.status === 200
    })
    expect(accepted.length).toBeGreaterThan(0)
    await using second = await own.start()
    const last = sign()
    await post(second.url, last)
    const read = (await own.readUntil(last)).map(({ bytes }) => hex(bytes))
    expect(accepted.map(hex).filter((entry) => !read.includes(entry))).toEqual([])
  })

  it('does not start on a Redis that could lose acknowledged entries', async () => {
    await using own = await setUp({ fsync: 'everysec' })
    await expect(own.startAnyhow()).rejects.toThrow('appendfsync is everysec; it must be always')
  })

  it('orders no entry while its clock is ahead, reports it, and continues after that', async () => {
    await using own = await setUp()
    let aheadMicros = 0
    await using synchronizer = await own.start({
      clock: { ...clock, nowMicros: () => clock.nowMicros() + aheadMicros },
    })
    const accepted = sign()
    expect(await post(synchronizer.url, accepted)).toMatchObject({ status: 200 })
    aheadMicros = 30 * 86_400 * 1_000_000
    expect(await post(synchronizer.url, sign())).toMatchObject({
      status: 503,
      code: 'CLOCK_OFF',
      definite: false,
      error: expect.stringMatching(/clock is 2592000 s ahead/),
    })
    expect(await send(`${synchronizer.url}/readyz`)).toAnswer(503)
    // The error does not blame the clock of the participant.
    aheadMicros = -1_800_000_000
    const later = sign({ notAfter: clock.nowMicros() + 700e6 })
    expect(await post(synchronizer.url, later)).toMatchObject({
      status: 503,
      code: 'CLOCK_OFF',
      error: expect.stringMatching(/synchronizer's clock is 1800 s behind/),
    })
    aheadMicros = 0
    await becomes(synchronizer.url, 200)
    const last = sign()
    expect(await post(synchronizer.url, last)).toMatchObject({ status: 200 })
    const read = await own.readUntil(last)
    expect(read.map(({ bytes }) => hex(bytes))).toEqual([accepted, last].map(hex))
    const newest = Math.max(...read.map(({ recordTime }) => recordTime))
    expect(newest).toBeLessThan(clock.nowMicros() + 1_000_000)
  })

  it('begins no new log if its followers know a longer one', async () => {
    await using own = await setUp()
    own.reported.head = 1234
    await using synchronizer = await own.startAnyhow()
    const regressed = await until('the reports of the followers', async () => {
      const answer = await post(synchronizer.url, sign())
      return answer.code === 'LOG_REGRESSED' ? answer : undefined
    })
    expect(regressed.error).toMatch(/The log ends at offset 0, but \d nodes .* 1234/)
    const status = (await send(`${synchronizer.url}/status`)).body as {
      success: { active: boolean; extra: { offset: number; detail: string } }
    }
    expect(status.success).toMatchObject({ active: false, extra: { offset: 0 } })
    expect(status.success.extra.detail).toBe(regressed.error)
  })

  it('finds flipped bytes and missing entries in its log, reports them, and continues', async () => {
    await using own = await setUp()
    const first = await own.start()
    const damaged = sign({ userId: 'damaged-user' })
    for (const bytes of [damaged, sign(), sign()]) await post(first.url, bytes)
    await first[Symbol.asyncDispose]()
    await own.redis.kill()
    await flipInLog(own.redis.directory, 'damaged-user')
    await own.redis.restart()

    const lines: string[] = []
    await using second = await own.start({
      logger: Object.assign(createLogger({ name: 'synchronizer', level: 'silent' }), {
        error: (_: unknown, line: string) => lines.push(line),
      }),
      // Rounds follow each other without a pause.
      clock: { ...clock, delay: (ms, signal) => clock.delay(Math.min(ms, 20), signal) },
    })
    const detailOf = async () => {
      const answer = (await send(`${second.url}/status`)).body
      return String(answer.success.extra.detail)
    }
    const sentence = /^The log is damaged at offset \d+ \(signature\): .*log repair/
    await untilTrue('the damage to be found', async () => sentence.test(await detailOf()))
    expect(await post(second.url, sign())).toMatchObject({ status: 200 })
    const ready = await send(`${second.url}/readyz`)
    expect([ready.status, ready.headers.get('x-detail')]).toEqual([
      200,
      expect.stringMatching(sentence),
    ])
    const metric = async () => (await send(`${second.url}/metrics`)).text
    expect(await metric()).toMatch(/^quorumscan_log_damaged_parts 1$/m)

    const redis = own.redis.connect()
    const newest = (await redis.xrevrange('log', '+', '-', 'COUNT', 1))[0]?.[0] ?? ''
    expect(await post(second.url, sign())).toMatchObject({ status: 200 })
    await redis.xdel('log', newest)
    redis.disconnect()
    await untilTrue('the loss to be found', async () => /1 other part/.test(await detailOf()))
    expect(await metric()).toMatch(/^quorumscan_log_damaged_parts 2$/m)
    expect(lines).toEqual([
      expect.stringMatching(/^The log is damaged at offset/),
      expect.stringMatching(/^The log lacks offset/),
    ])
  })

  it('serves the log to clients with a token, and to no others', async () => {
    await using own = await setUp()
    await using synchronizer = await own.start()
    for (const token of [undefined, 'a-token-that-was-never-issued']) {
      const headers = token === undefined ? {} : { 'x-peer-token': token }
      // The token is checked before the request.
      for (const from of ['1', 'x']) {
        const refused = await send(`${synchronizer.url}/v0/log?from=${from}`, { headers })
        expect([refused.status, refused.body.code]).toEqual([401, 'UNAUTHENTICATED'])
      }
    }
    const headers = { 'x-peer-token': TOKEN }
    for (const from of ['0', '-1', 'x', ''])
      expect(await send(`${synchronizer.url}/v0/log?from=${from}`, { headers })).toAnswer(400)
    expect((await send(`${synchronizer.url}/metrics`)).text).toContain(
      'quorumscan_log_followers 0\n',
    )
  })

  it('reads the file of tokens again: ends the stream of a removed one, and serves a new one', async () => {
    await using own = await setUp()
    await using synchronizer = await own.start()
    const other = 'token-of-another-peer-of-it'
    const follow = (token: string, signal: AbortSignal) =>
      fetch(`${synchronizer.url}/v0/log?from=1`, { headers: { 'x-peer-token': token }, signal })
    const stop = new AbortController()
    const stream = await follow(TOKEN, stop.signal)
    await expect(stream).toAnswer(200)
    await expect(await follow(other, stop.signal)).toAnswer(401)
    await own.setTokens([other])
    expect((await stream.arrayBuffer()).byteLength).toBeGreaterThan(0)
    await expect(await follow(TOKEN, stop.signal)).toAnswer(401)
    await expect(await follow(other, stop.signal)).toAnswer(200)
    stop.abort()
  })

  it('buffers only a part for a follower that stops reading, and sends all later', async () => {
    await using own = await setUp({ rates: { peer: 1_000_000 } })
    let connections: readonly Socket[] = []
    await using synchronizer = await own.start({
      extend: ({ server }) => {
        server.server.on('connection', (socket: Socket) => {
          connections = [...connections, socket]
        })
      },
    })
    const { host, port } = new URL(synchronizer.url)
    const slow = connectTo({ host: '127.0.0.1', port: Number(port) })
    slow.write(`GET /v0/log?from=1 HTTP/1.1\r\nhost: ${host}\r\nx-peer-token: ${TOKEN}\r\n\r\n`)
    const [head] = (await once(slow, 'data')) as [Buffer]
    slow.pause()
    expect(head.toString('latin1')).toMatch(/^HTTP\/1.1 200 OK/)

    await using client = createLogClient({ url: synchronizer.url, token: TOKEN })
    const entryBytes = 200_000
    const argument = Array.from({ length: 200 }, () => 'x'.repeat(entryBytes / 200))
    const commands = [{ kind: 'create' as const, template: '#a:B:C', argument }]
    const write = async (count: number) => {
      for (let index = 0; index < count; index++)
        await client.submit(sign({ commands, actAs: [`alice::1220${'00'.repeat(32)}`] }), never)
    }
    // The size of the recent groups in memory and of the pipes.
    await write(60)
    const before = usedBytes()
    await write(100)
    // Unused buffers are freed some time after their collection.
    await untilTrue('next to nothing kept', () => usedBytes() - before < 8 * 2 ** 20)
    expect(Math.max(...connections.map(({ writableLength }) => writableLength))).toBeLessThan(
      2 ** 20,
    )

    let received = 0
    slow.on('data', (bytes: Buffer) => {
      received += bytes.byteLength
    })
    slow.resume()
    await untilTrue('all of it', () => received > 160 * entryBytes)
    slow.destroy()
  })

  it('does not start with too few nodes, or with nodes that are not in the genesis', async () => {
    await using own = await setUp()
    const url = 'http://127.0.0.1:1'
    await expect(own.startWith([{ name: 'sv-1', url }])).rejects.toThrow('QS_NODES must name 2')
    await expect(own.startWith([{ name: 'sv-9', url }])).rejects.toThrow('no node "sv-9"')
  })
})
