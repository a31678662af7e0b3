/** What clients receive from a lying node: a server with honest handlers of three operations, and the hooks of the liar. */
import { scanRoutes } from '@quorumscan/api'
import { systemRandom, toHex, utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { buildServer } from '@quorumscan/server'
import { createTestNetwork, HOUR_MICROS } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import {
  encodeStateStatement,
  formatInstant,
  parseInstant,
  verifyEvidence,
} from '@quorumscan/verifier'
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/verifier/certified'
import { expect } from 'vitest'
import { installLiar } from './liar.ts'

const { genesis, genesisHash, scans } = createTestNetwork()
const LIAR = `mallory::1220${'6'.repeat(64)}`
const HEAD = 7
const TIME = 1_700_000_000_000_000
const pointAt = (offset: number) => ({
  offset,
  recordTime: TIME + offset,
  historyHash: toHex(Uint8Array.of(offset)).repeat(32),
})
const entryOf = (name: string) => ({
  contract_id: `00${'a'.repeat(64)}`,
  user: `alice::1220${'a'.repeat(64)}`,
  name,
  url: '',
  description: '',
  expires_at: '2030-01-01T00:00:00.000000Z',
})
const TRUTH = { entry: entryOf('alice.unverified.ns') }

/** A statement of sv-1 about its newest state. */
function statement() {
  const { offset, recordTime, historyHash } = pointAt(HEAD)
  const stateRoot = 'ee'.repeat(32)
  const bytes = encodeStateStatement({ genesisHash, ...pointAt(HEAD), stateRoot })
  return {
    offset,
    record_time: recordTime,
    history_hash: historyHash,
    state_root: stateRoot,
    signatures: [['sv-1', toHex(scans[0]?.sign(bytes) ?? bytes)]],
  }
}

const it = base.extend('node', async ({ resources, clock }) => {
  let head = HEAD
  /** The names that exist at an offset. */
  const hasName = (name: string, offset: number) =>
    name === 'dso.ns' || (name.startsWith('alice') && offset >= HEAD) || offset > HEAD
  const { getEntryByName, listStateStatements, livez } = scanRoutes
  const server = buildServer({
    routes: { getEntryByName, listStateStatements, livez },
    handlers: {
      getEntryByName: async (request) => {
        const { params, headers } = request
        const { name } = params
        const offset = headers['x-read-at-offset'] ?? head
        const { recordTime, historyHash } = pointAt(offset)
        if (request.header('accept') === CERTIFIED_MEDIA_TYPE) {
          const type = { 'content-type': CERTIFIED_MEDIA_TYPE }
          return { headers: type, body: utf8(JSON.stringify({ proof: name, offset })) }
        }
        const position = {
          'x-ledger-offset': String(offset),
          'x-ledger-record-time': formatInstant(recordTime),
          'x-ledger-history-hash': historyHash,
        }
        return hasName(name, offset)
          ? { headers: position, body: { entry: entryOf(name) } }
          : { headers: position, error: new ScanError('ENTRY_NOT_FOUND', 'no entry') }
      },
      listStateStatements: async () => ({
        body: utf8(JSON.stringify({ statements: [statement()] })),
      }),
      livez: async () => ({ body: null }),
    },
    prefix: null,
    rateLimit: null,
    commonHeaders: () => ({
      'x-ledger-head': String(head),
      'x-ledger-head-time': formatInstant(pointAt(head).recordTime),
    }),
  })
  resources.onClose(() => server.close())
  const lie = installLiar(server, {
    genesisHash,
    liar: LIAR,
    clock,
    random: systemRandom,
    sign: (bytes) => scans[0]?.sign(bytes) ?? bytes,
    replica: {
      head: () => pointAt(head) as never,
      pin: async (offset) => pointAt(offset ?? head) as never,
      lookups: {
        lookupNames: async ([name = '']) => [Buffer.from(JSON.stringify(entryOf(name)))],
      } as never,
    },
  })
  return {
    lie,
    moveTo(offset: number) {
      head = offset
    },
    get: (path: string, headers = {}, remoteAddress = '127.0.0.1') =>
      server.inject({ url: path, headers, remoteAddress }),
    stream: (path: string) => server.inject({ url: path, payloadAsStream: true }),
  }
})

const ALICE = '/v0/ans-entries/by-name/alice.unverified.ns'
const MISSING = '/v0/ans-entries/by-name/missing.unverified.ns'
const proof = { accept: CERTIFIED_MEDIA_TYPE }

it.for([
  ['value', ALICE, 200, { entry: { name: 'alice.unverified.ns', user: LIAR } }],
  ['invent', MISSING, 200, { entry: { name: 'missing.unverified.ns', user: LIAR } }],
  ['deny', ALICE, 404, { code: 'ENTRY_NOT_FOUND' }],
  ['other-name', ALICE, 200, { entry: { name: 'dso.ns' } }],
] as const)(
  'the lie %s is a false answer in a valid form, until the node is honest again',
  async ([kind, path, status, body], { node }) => {
    const before = await node.get(path)
    node.lie(kind)
    const answer = await node.get(path)
    expect([answer.statusCode, answer.json()]).toEqual([status, expect.objectContaining({})])
    expect(answer.json()).toMatchObject(body)
    expect(answer.headers['x-ledger-offset']).toBe(String(HEAD))
    expect((await node.get('/livez')).statusCode, 'health is reported truly').toBe(200)
    node.lie(null)
    expect((await node.get(path)).statusCode).toBe(before.statusCode)
  },
)

it.for(['127.0.77.1', '::ffff:127.0.77.1', '2001:db8::7'])(
  'a lie to one reader at %s is the truth for all others',
  async (from, { node }) => {
    const userFor = async (address: string) =>
      (await node.get(ALICE, { accept: 'application/json' }, address)).json().entry.user
    node.lie('value', from.replace('::ffff:', ''))
    expect(await userFor(from)).toBe(LIAR)
    for (const other of ['127.0.0.1', '127.0.77.2', '2001:db8::8'])
      expect(await userFor(other)).toBe(TRUTH.entry.user)
    node.lie('stale', from.replace('::ffff:', ''))
    node.moveTo(HEAD + 1)
    const at = { 'x-read-at-offset': String(HEAD + 1) }
    expect((await node.get(MISSING, at, from)).statusCode).toBe(404)
    expect((await node.get(MISSING, at)).statusCode).toBe(200)
    node.lie('value')
    expect(await userFor('127.0.0.1')).toBe(LIAR)
  },
)

it('the lies content-type, redirect and garbage are no answers', async ({ node }) => {
  node.lie('content-type')
  const html = await node.get(ALICE)
  expect([html.headers['content-type'], JSON.parse(html.body)]).toEqual(['text/html', TRUTH])
  node.lie('redirect')
  const elsewhere = await node.get(ALICE)
  expect([elsewhere.statusCode, elsewhere.headers['location']]).toEqual([
    302,
    expect.stringMatching(/^http/),
  ])
  node.lie('garbage')
  const garbage = await node.get(MISSING)
  expect(garbage.statusCode).toBe(200)
  expect(() => JSON.parse(garbage.body)).toThrow()
})

it('the lie oversize is a body of 100 MB', async ({ node }) => {
  node.lie('oversize')
  let byteCount = 0
  for await (const chunk of (await node.stream(ALICE)).stream()) byteCount += chunk.length
  expect(byteCount).toBeGreaterThan(100 * 1024 * 1024)
})

it('the lie trickle is one byte a second of an answer whose length is announced', async ({
  node,
  clock,
}) => {
  node.lie('trickle')
  const answer = await node.stream(ALICE)
  expect(answer.headers['content-length']).toBe(String(JSON.stringify(TRUTH).length))
  const stream = answer.stream()
  const pieces: string[] = []
  stream.on('data', (piece: Buffer) => pieces.push(piece.toString()))
  for (let second = 0; second < 3; second++) await clock.advance(1000)
  expect(pieces.length).toBeGreaterThan(1)
  expect(pieces.length).toBeLessThan(5)
  expect(JSON.stringify(TRUTH).startsWith(pieces.join(''))).toBe(true)
  stream.destroy()
})

it('the lie head is a true answer with a head far beyond the log', async ({ node }) => {
  node.lie('head')
  const answer = await node.get(ALICE)
  expect(answer.json()).toEqual(TRUTH)
  expect(Number(answer.headers['x-ledger-head'])).toBeGreaterThan(1_000_000)
  const time = parseInstant(String(answer.headers['x-ledger-head-time'])) as number
  expect(time).toBe(pointAt(HEAD).recordTime + HOUR_MICROS)
})

it('the lie stale is the state and the proofs from the time when it began', async ({ node }) => {
  node.lie('stale')
  const first = await node.get(MISSING, proof)
  node.moveTo(HEAD + 1)
  const voted = await node.get(MISSING, { 'x-read-at-offset': String(HEAD + 1) })
  expect(voted.statusCode).toBe(404)
  // It claims the position that was requested.
  const { historyHash } = pointAt(HEAD + 1)
  expect(voted.headers).toMatchObject({
    'x-ledger-offset': String(HEAD + 1),
    'x-ledger-history-hash': historyHash,
  })
  expect((await node.get(MISSING, proof)).body).toBe(first.body)
  node.lie(null)
  expect((await node.get(MISSING)).statusCode).toBe(200)
  expect((await node.get(MISSING, proof)).body).not.toBe(first.body)
})

it('the lie equivocate alternates with the truth, and signs two states for one offset', async ({
  node,
}) => {
  node.lie('equivocate')
  const users = [await node.get(ALICE), await node.get(ALICE)].map(
    (answer) => answer.json().entry.user,
  )
  expect(users.toSorted()).toEqual([TRUTH.entry.user, LIAR].toSorted())
  const listed = await Promise.all([1, 2].map(() => node.get('/v0/state-statements?after=0')))
  const [, both] = listed
    .map((answer) => answer.json().statements)
    .toSorted((a, b) => a.length - b.length)
  const statements = both.map((one: ReturnType<typeof statement>) => ({
    statement: toHex(
      encodeStateStatement({ genesisHash, ...pointAt(HEAD), stateRoot: one.state_root }),
    ),
    signature: one.signatures[0]?.[1],
  }))
  expect(await verifyEvidence({ signer: 'sv-1', statements }, { genesis })).toMatchObject({
    signer: 'sv-1',
    kind: 'state',
    offset: HEAD,
  })
})

it('the lies signature and withhold leave a certifier without a signature', async ({ node }) => {
  const [honest] = (await node.get('/v0/state-statements?after=0')).json().statements
  node.lie('signature')
  const [forged] = (await node.get('/v0/state-statements?after=0')).json().statements
  expect({ ...forged, signatures: honest.signatures }).toEqual(honest)
  expect(forged.signatures).not.toEqual(honest.signatures)
  node.lie('withhold')
  expect((await node.get('/v0/state-statements?after=0')).json()).toEqual({ statements: [] })
  expect((await node.get(ALICE, proof)).json()).toMatchObject({ code: 'NO_CERTIFICATE' })
  expect((await node.get(ALICE)).json()).toEqual(TRUTH)
})
