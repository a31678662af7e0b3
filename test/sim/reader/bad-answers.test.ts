import { type SimHandler, type SimReply, signAddress } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, createWorld, hung } from './world.ts'

const text = (body: string) => new TextEncoder().encode(body)
type Change = (reply: SimReply) => SimReply

/** Changes the answers to batches with lookups. */
function changing(handler: SimHandler, change: Change): SimHandler {
  return async (request) => {
    const reply = await handler(request)
    const isLookup = new TextDecoder().decode(request.body ?? new Uint8Array()).includes('name')
    return reply === null || !isLookup ? reply : change(reply)
  }
}

const body =
  (rewrite: (text: string) => string): Change =>
  (reply) => ({
    ...reply,
    body: text(rewrite(new TextDecoder().decode(reply.body))),
  })
const header =
  (name: string, value: string): Change =>
  (reply) => ({ ...reply, headers: { ...reply.headers, [name]: value } })
const status =
  (code: number, content = '{"error":"no"}'): Change =>
  (reply) => ({ ...reply, status: code, body: text(content) })

const other = `{"entry":{"contract_id":null,"user":"eve::1220${'e'.repeat(64)}","name":"eve.unverified.ns","url":"","description":"","expires_at":null}}`
const lasting = other.replace('eve.unverified.ns', ALICE)

const failures: readonly (readonly [string, Change])[] = [
  ['10 MB', (reply) => ({ ...reply, body: new Uint8Array(10_000_000) })],
  ['another content type', header('content-type', 'text/html')],
  ['no content type', header('content-type', '')],
  ['a redirect', status(302)],
  ['404', status(404)],
  ['404 with an answer', status(404, '{"results":[{"entry":null}]}')],
  ['429', status(429)],
  ['500', status(500)],
  ['503 of another kind', status(503, '{"code":"NOT_READY"}')],
  ['204 and no body', status(204, '')],
  ['an entry with a further member', body((answer) => answer.replace('"user"', '"x":1,"user"'))],
  ['an entry without a member', body((answer) => answer.replace(/"url":"[^"]*",/, ''))],
  ['a member of another type', body((answer) => answer.replace(/"url":"[^"]*"/, '"url":7'))],
  ['no answers', body(() => '{"results":[]}')],
  ['two answers', body((answer) => answer.replace(/\[(.*)\]/s, '[$1,$1]'))],
  ['half an answer', body((answer) => answer.slice(0, 40))],
  ['white space', body((answer) => answer.replace('[', '[ '))],
  ['text after the JSON', body((answer) => `${answer} `)],
  ['results twice', body((answer) => answer.replace('{', '{"results":[{"entry":null}],'))],
  ['an additional member', body((answer) => answer.replace(/\}$/, ',"more":1}'))],
  ['an array', body(() => '[]')],
  ['null', body(() => 'null')],
  ['a number', body(() => '7')],
  ['a byte order mark', body((answer) => `\uFEFF${answer}`)],
  ['bytes that are not UTF-8', (reply) => ({ ...reply, body: Uint8Array.of(0xff, 0xfe, 0x22) })],
  ['another offset', header('x-ledger-offset', '2')],
  ['no offset', header('x-ledger-offset', '')],
  ['a negative offset', header('x-ledger-offset', '-3')],
  ['an offset with zeros', header('x-ledger-offset', '03')],
  ['no record time', header('x-ledger-record-time', '')],
  ['a record time of another form', header('x-ledger-record-time', '2023-11-14T22:13:19Z')],
  ['a history hash in capitals', header('x-ledger-history-hash', 'AB'.repeat(32))],
]

/** Wrong answers of a valid form, which the reader checks only after they have enough votes. */
const wrongAnswers: typeof failures = [
  ['an entry of another name', body(() => `{"results":[${other}]}`)],
  ['an expired entry', body((answer) => answer.replace(/20\d\d-/, '2001-'))],
  ['an invalid time', body((answer) => answer.replace(/-\d\dT/, '-32T'))],
]

describe('a wrong answer of a valid form:', () => {
  it.each(wrongAnswers)('%s is outvoted', async (_, change) => {
    const { lookup, serve, honest } = createWorld()
    serve(0, changing(honest(0), change))
    serve(1, hung)
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified', agreed: ['sv-3', 'sv-4'] })
  })

  it.each(wrongAnswers)('%s is not accepted from enough nodes', async (_, change) => {
    const { lookup, serve, honest, reader } = createWorld({
      latencyMs: (url) => (/[12]$/.test(url) ? 1 : 10),
    })
    await lookup('missing.unverified.ns')
    for (const index of [0, 1]) serve(index, changing(honest(index), change))
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified', agreed: ['sv-3', 'sv-4'] })
    expect(reader.status().nodes.map(({ lastError }) => lastError)).toEqual([
      'malformed answer',
      'malformed answer',
      null,
      null,
    ])
  })
})

describe('a node that answers with', () => {
  it.each(failures)('%s does not vote', async (_, change) => {
    const { lookup, timed, serve, honest, reader } = createWorld()
    await lookup('missing.unverified.ns')
    serve(0, changing(honest(0), change))
    // While its vote is not needed, the others decide without delay.
    const { outcome, ms } = await timed(ALICE)
    expect(outcome).toMatchObject({ kind: 'verified', dissented: [] })
    expect('agreed' in outcome && outcome.agreed).not.toContain('sv-1')
    expect(ms).toBeLessThan(10)
    // If its vote is needed, the outcome is insufficient.
    expect(await lookup(ALICE, { threshold: 'all' })).toMatchObject({
      kind: 'insufficient',
      reachable: 3,
      needed: 4,
    })
    expect(reader.status().nodes[0]?.errors).toBeGreaterThan(0)
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified' })
  })

  it('a valid lie is outvoted', async () => {
    const { lookup, serve, honest } = createWorld()
    serve(
      0,
      changing(
        honest(0),
        body(() => `{"results":[${lasting}]}`),
      ),
    )
    serve(1, hung)
    expect(await lookup(ALICE)).toMatchObject({
      kind: 'verified',
      agreed: ['sv-3', 'sv-4'],
    })
    expect(await lookup(ALICE, { threshold: 3 })).toMatchObject({
      kind: expect.stringMatching(/disputed|insufficient/),
    })
  })

  it('a history hash that differs does not count with the others', async () => {
    const { lookup, serve, honest } = createWorld()
    serve(0, changing(honest(0), header('x-ledger-history-hash', 'ab'.repeat(32))))
    const outcome = await lookup(ALICE, { threshold: 'strong' })
    expect(outcome).toMatchObject({ kind: 'verified', dissented: ['sv-1'] })
  })

  it('410 does not vote, and does not count as an error of the node', async () => {
    const { lookup, serve, honest, reader } = createWorld()
    serve(0, changing(honest(0), status(410)))
    expect(await lookup(ALICE, { threshold: 'all' })).toMatchObject({ kind: 'insufficient' })
    expect(reader.status().nodes[0]?.errors).toBe(0)
  })

  it('OFFSET_NOT_REACHED makes a read lag if its vote is needed', async () => {
    const { lookup, serve, honest } = createWorld()
    serve(0, changing(honest(0), status(503, '{"code":"OFFSET_NOT_REACHED"}')))
    expect(await lookup(ALICE, { threshold: 'all' })).toMatchObject({
      kind: 'lagging',
      reason: 'not-reached',
    })
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified' })
  })
})

it('a node with an http address that is not loopback gets no requests for votes', async () => {
  const world = createWorld()
  const { keyPair, name } = world.nodes[0] as (typeof world.nodes)[number]
  const moveTo = async (url: string, sequence: number) => {
    const moved = signAddress(keyPair, { genesisHash: world.genesisHash, name, url, sequence })
    for (const node of world.nodes) node.records = [moved, ...world.records.slice(1)]
    world.network.serve(url, world.honest(0))
    await world.clock.run(world.reader.refreshAddresses())
  }
  const plain = 'http://sv-1.example.com'
  await moveTo(plain, 2)
  const votesBefore = world.network.requestCounts.get(plain) ?? 0
  expect(await world.lookup(ALICE)).toMatchObject({ kind: 'verified' })
  expect(await world.lookup(ALICE, { threshold: 'all' })).toMatchObject({
    kind: 'insufficient',
    reachable: 3,
  })
  expect(world.network.requestCounts.get(plain) ?? 0).toBe(votesBefore)
  expect(world.reader.status().nodes[0]).toMatchObject({
    url: plain,
    lastError: 'its address is neither https nor loopback',
  })
  await moveTo('https://sv-1.example.com', 3)
  expect(await world.lookup(ALICE, { threshold: 'all' })).toMatchObject({ kind: 'verified' })
})
