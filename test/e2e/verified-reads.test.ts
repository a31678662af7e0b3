/**
 * Answers that prove themselves, on real processes: receipts through the proxy and on the command line, a
 * node that lies with its own key, and what the proxy makes of it. One cluster; each test leaves it whole.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERIFIED_MEDIA_TYPE } from '@quorumscan/api'
import {
  type CanonicalRequest,
  type Genesis,
  parseGenesis,
  ReceiptError,
  requestOfLookup,
  verifyEvidence,
  verifyReceipt,
} from '@quorumscan/consensus'
import { type HttpAnswer, send, until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { createUser, lookup, untilFound } from './client.ts'
import { runCommand } from './command.ts'
import { startForkedNode } from './forked-node.ts'

let cluster: RunningCluster
let genesis: Genesis
let alice: Awaited<ReturnType<typeof createUser>>
let directory: string
const ALICE = 'alice.unverified.ns'
const NOBODY = 'nobody.unverified.ns'
const verified = { accept: VERIFIED_MEDIA_TYPE }

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qs-receipts-'))
  cluster = await startCluster({ nodes: 4 })
  genesis = parseGenesis(JSON.parse(await readFile(join(cluster.dataDir, 'genesis.json'), 'utf8')))
  alice = await createUser(cluster, 'alice')
  await alice.pay(ALICE)
  await untilFound(cluster, ALICE)
  await untilAllVote()
})
afterAll(async () => {
  await cluster?.down()
  await rm(directory, { recursive: true, force: true })
})

afterEach(async () => {
  await cluster.heal()
  for (const { name, state } of (await cluster.status()).nodes) {
    if (state === 'paused') await cluster.resume(name)
    if (state === 'down') await cluster.restart(name)
  }
  await untilAllVote()
})

function untilAllVote() {
  return until('all four nodes to vote', async () =>
    (await lookup(cluster, ALICE, { 'x-quorum': 'all' })).status === 200 ? true : undefined,
  )
}

const byName = (name: string) => requestOfLookup({ name })
const proxied = (path: string) => `${cluster.urls.validator}/v0/scan-proxy${path}`

const quorumscan = (...args: readonly string[]) => runCommand(cluster, ...args)

async function fileOf(document: unknown): Promise<string> {
  const path = join(directory, `${randomBytes(6).toString('hex')}.json`)
  await writeFile(path, typeof document === 'string' ? document : JSON.stringify(document))
  return path
}

describe('a receipt', () => {
  it('comes with every proxied answer that is asked for so, and verifies offline', async () => {
    const party = encodeURIComponent(alice.party)
    const page = { name_prefix: '', page_size: 2, page_token: null }
    const get = (path: string) => send(proxied(path), { headers: verified })
    const post = (path: string, body: unknown) =>
      send(proxied(path), {
        method: 'POST',
        headers: { ...verified, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const rules = { cached_ans_rules_contract_id: null, cached_ans_rules_domain_id: null }
    const rows = { page_size: 3, begin_after_id: null, sort_order: 'desc' }
    const cases: readonly [string, Promise<HttpAnswer>, CanonicalRequest, number?][] = [
      ['a name', get(`/ans-entries/by-name/${ALICE}`), byName(ALICE)],
      ['no name', get(`/ans-entries/by-name/${NOBODY}`), byName(NOBODY), 404],
      ['a party', get(`/ans-entries/by-party/${party}`), requestOfLookup({ party: alice.party })],
      [
        'no party',
        get(`/ans-entries/by-party/x${party}`),
        requestOfLookup({ party: `x${alice.party}` }),
        404,
      ],
      ['a page', get('/ans-entries?page_size=2'), { operation: 'listEntries', parameters: page }],
      [
        'the names of a party',
        get(`/ans-entries/by-party/${party}/all?page_size=2`),
        {
          operation: 'listEntriesByParty',
          parameters: { party: alice.party, page_size: 2, page_token: null },
        },
      ],
      [
        'activities',
        post('/activities', { page_size: 3, sort_order: 'desc' }),
        { operation: 'listActivities', parameters: rows },
      ],
      ['rules', post('/ans-rules', {}), { operation: 'getAnsRules', parameters: rules }],
      ['the operator', get('/dso-party-id'), { operation: 'getDsoPartyId', parameters: {} }],
      ['its rules', get('/dso'), { operation: 'getDso', parameters: { shared: true } }],
      ['addresses', get('/scans'), { operation: 'listScans', parameters: {} }],
    ]
    for (const [title, pending, request, status = 200] of cases) {
      const { body, headers, ...answer } = await pending
      expect([title, answer.status, body.status]).toEqual([title, status, status])
      expect(headers.get('content-type'), title).toBe(VERIFIED_MEDIA_TYPE)
      expect(Object.keys(body), title).toEqual(['status', 'answer', 'receipt'])
      const receipt = await verifyReceipt(body.receipt, { genesis, request })
      expect(JSON.parse(Buffer.from(receipt.answer).toString()), title).toEqual(body.answer)
      expect(headers.get('x-quorum-offset'), title).toBe(String(receipt.offset))
      expect(headers.get('x-quorum-agreed'), title).toBe(receipt.signers.join())
    }
  })

  it('is one for each lookup of a batch', async () => {
    const lookups = [{ name: ALICE }, { party: alice.party }, { name: NOBODY }]
    const { body } = await send(proxied('/ans-entries/batch'), {
      method: 'POST',
      headers: { ...verified, 'content-type': 'text/plain' },
      body: JSON.stringify({ lookups }),
    })
    expect(body.results.map((one: { status: number }) => one.status)).toEqual([200, 200, 404])
    for (const [index, one] of body.results.entries()) {
      const request = requestOfLookup(lookups[index] ?? { name: '' })
      await verifyReceipt(one.receipt, { genesis, request })
    }
  })

  it('holds as many signatures as the threshold asks for', async () => {
    for (const [quorum, signers] of [
      ['weak', 2],
      ['strong', 3],
      ['all', 4],
    ] as const) {
      const { body } = await lookup(cluster, ALICE, { ...verified, 'x-quorum': quorum })
      const options = { genesis, request: byName(ALICE), threshold: signers }
      expect((await verifyReceipt(body.receipt, options)).signers.length).toBeGreaterThanOrEqual(
        signers,
      )
    }
  })

  it('is for one request, one network and enough signers, and for nothing else', async () => {
    const { body } = await lookup(cluster, ALICE, verified)
    const { receipt } = body
    const request = byName(ALICE)
    const refusals = [
      [{ genesis, request: byName(NOBODY) }, receipt, 'OTHER_REQUEST'],
      [{ genesis: { ...genesis, nonce: '00'.repeat(32) }, request }, receipt, 'OTHER_GENESIS'],
      [
        { genesis, request },
        { ...receipt, signatures: receipt.signatures.slice(0, 1) },
        'TOO_FEW_SIGNERS',
      ],
      [
        { genesis, request },
        { ...receipt, signatures: [receipt.signatures[0], receipt.signatures[0]] },
        'MALFORMED',
      ],
      [{ genesis, request }, { ...receipt, offset: receipt.offset + 1 }, 'BAD_SIGNATURE'],
    ] as const
    for (const [options, document, code] of refusals) {
      const refusal = await verifyReceipt(document, options).catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(ReceiptError)
      expect((refusal as ReceiptError).code).toBe(code)
    }
  })

  it('is what the verify command accepts, and nothing that was touched', async () => {
    const present = await lookup(cluster, ALICE, { ...verified, 'x-quorum': 'strong' })
    const absent = await lookup(cluster, NOBODY, verified)
    const good = await quorumscan('verify', await fileOf(present.body), '--threshold', 'strong')
    expect(good).toMatchObject({ code: 0, text: expect.stringMatching(/^valid\n/) })
    for (const part of [ALICE, alice.party, String(present.body.receipt.offset), 'sv-'])
      expect(good.text).toContain(part)
    const none = await quorumscan('verify', await fileOf(absent.body.receipt), '--name', NOBODY)
    expect(none).toMatchObject({ code: 0, text: expect.stringContaining('{"entry":null}') })

    const touched = JSON.stringify(present.body).replaceAll('entry of alice', 'entry of Alice')
    const moved = { ...present.body.receipt, offset: 1 }
    for (const [document, reason, ...args] of [
      [touched, 'not the one that was signed'],
      [moved, 'does not fit'],
      [present.body, 'for another request', '--name', NOBODY],
    ] as const) {
      const bad = await quorumscan('verify', await fileOf(document), ...args)
      expect(bad.code, bad.text).toBe(1)
      expect(bad.text).toMatch(/^invalid, because /)
      expect(bad.text).toContain(reason)
    }
  })
})

describe('bad input', () => {
  it.each(['0', '1', '5', '2f+2x', '-2', 'Strong'])('a quorum of %j is refused', async (quorum) => {
    const inHeader = await lookup(cluster, ALICE, { 'x-quorum': quorum })
    expect([inHeader.status, inHeader.body.code]).toEqual([400, 'INVALID_QUORUM'])
    const path = `/ans-entries/by-name/${ALICE}?quorum=${encodeURIComponent(quorum)}`
    expect((await send(proxied(path))).body.code).toBe('INVALID_QUORUM')
  })

  it.each(['-1', 'x', '1.5', '9007199254740993'])('a floor of %j is refused', async (floor) => {
    const answer = await lookup(cluster, ALICE, { 'x-min-offset': floor })
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_ARGUMENT'])
  })

  it('a floor beyond the head is lagging, with a time to come back', async () => {
    const answer = await lookup(cluster, ALICE, { 'x-min-offset': '1000000000' })
    expect([answer.status, answer.body.code]).toEqual([503, 'CONSENSUS_LAGGING'])
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/)
    expect(answer.body).toMatchObject({ retryable: true, details: { reason: 'floor' } })
  })

  it('resolve and verify say what a threshold is', async () => {
    for (const args of [
      ['resolve', ALICE, '--quorum', '5'],
      ['verify', await fileOf('{}'), '--threshold', '1'],
    ])
      expect(await quorumscan(...args)).toEqual({
        code: 2,
        text: 'quorumscan: a threshold is weak, strong, all or a number from 2 to 4\n',
      })
    expect(await quorumscan('resolve', 'a::b')).toMatchObject({ code: 1 })
  })
})

describe('resolve', () => {
  it('proves an answer of one node, keeps the proof, and says who signed it', async () => {
    const file = join(directory, 'alice.json')
    const strong = await quorumscan('resolve', ALICE, '--quorum', 'strong', '--receipt', file)
    expect(strong.code, strong.text).toBe(0)
    expect(strong.text).toContain(`${ALICE}: verified\n`)
    expect(strong.text).toContain(alice.party)
    expect(strong.text).toMatch(/signed by +(sv-\d(, )?){3,4} \(3 needed\)/)
    expect(strong.text).toMatch(/asked +sv-\d: answered/)
    for (const args of [[], ['--name', ALICE], ['--threshold', 'strong']]) {
      const proven = await quorumscan('verify', file, ...args)
      expect(proven.code, proven.text).toBe(0)
      expect(proven.text).toContain(`the name ${ALICE} has this entry`)
    }
    expect(await quorumscan('verify', file, '--name', NOBODY)).toMatchObject({ code: 1 })
  })

  it('prints what verify takes as it is', async () => {
    const printed = await quorumscan('resolve', NOBODY, '--json')
    const proven = await quorumscan('verify', await fileOf(printed.text))
    expect(proven.code, proven.text).toBe(0)
    expect(proven.text).toContain(`the name ${NOBODY} has no entry`)
    const lie = printed.text.replace('"answer":null', `"answer":{"name":"${NOBODY}"}`)
    expect(await quorumscan('verify', await fileOf(lie))).toMatchObject({ code: 1 })
  })

  it('shows the name of a party only where the name leads back to it', async () => {
    const found = await quorumscan('resolve', alice.party, '--quorum', 'strong')
    expect(found.code, found.text).toBe(0)
    expect(found.text).toContain(ALICE)
    expect(found.text).toMatch(/leads back +yes/)
    const none = await quorumscan('resolve', `x${alice.party}`, '--json')
    expect(JSON.parse(none.text)).toMatchObject({ kind: 'verified-absent', match: false })
  })

  it('names dead and hung nodes that it tried, and needs no validator', async () => {
    await cluster.kill('sv-1')
    await cluster.pause('sv-2')
    await cluster.kill('validator')
    try {
      const absent = await quorumscan('resolve', NOBODY)
      expect(absent.code, absent.text).toBe(0)
      expect(absent.text).toContain(`${NOBODY}: verified-absent\n`)
      for (const tried of [
        /sv-1: .*ECONNREFUSED/,
        /sv-2: no answer within \d+ ms/,
        /sv-[34]: answered/,
      ])
        expect(absent.text).toMatch(tried)
      expect(await quorumscan('resolve', NOBODY, '--votes')).toMatchObject({ code: 1 })
    } finally {
      await cluster.restart('validator')
    }
  })

  it('shows votes with their entries, also where nodes contradict each other', async () => {
    const agreed = await quorumscan('resolve', ALICE, '--votes')
    expect(agreed.code, agreed.text).toBe(0)
    expect(agreed.text).toContain(`${ALICE}: verified, by votes: 2 needed`)
    expect(agreed.text).toContain(alice.party)
    await cluster.lie('sv-3', 'deny')
    const disputed = await quorumscan('resolve', ALICE, '--votes', '--quorum', 'all')
    expect(disputed.code, disputed.text).toBe(1)
    // Decided as soon as two contradict each other, whoever else is heard by then.
    expect(disputed.text).toMatch(/^alice\S+: disputed, by votes: 4 needed, heard [2-4]\/4\n/)
    expect(disputed.text).toMatch(/sv-3: at offset \d+\n {2}no entry/)
    expect(disputed.text).toContain(alice.party)
    // The proof needs no agreement of nodes at this moment.
    expect(await quorumscan('resolve', ALICE, '--quorum', 'all')).toMatchObject({ code: 0 })
  })
})

type NodeCounts = { readonly name: string; readonly errors: number; readonly dissents: number }

async function countsOf(node: string): Promise<NodeCounts> {
  const { nodes } = (await send(`${cluster.urls.validator}/status`)).body.success.extra.reader
  return nodes.find(({ name }: NodeCounts) => name === node)
}

describe('a node that lies with its own key', () => {
  /** What the proxy counts: an answer that is none, or another vote than the others'. */
  const lies: readonly (readonly [Parameters<typeof cluster.lie>[1], 'errors' | 'dissents'])[] = [
    ['value', 'dissents'],
    ['invent', 'dissents'],
    ['deny', 'dissents'],
    ['equivocate', 'dissents'],
    ['stale', 'dissents'],
    ['other-name', 'dissents'],
    ['signature', 'errors'],
    ['garbage', 'errors'],
    ['oversize', 'errors'],
    ['content-type', 'errors'],
    ['redirect', 'errors'],
    // Last, as it keeps the node busy for a while.
    ['trickle', 'errors'],
  ]

  it.each(lies)('%s: no answer and no receipt changes', async (lie, counted) => {
    const liar = 'sv-3'
    const name = lie === 'invent' ? NOBODY : lie === 'stale' ? 'stale.unverified.ns' : ALICE
    await cluster.lie(liar, lie)
    if (lie === 'stale') {
      // What was true when the lie began is that there is no such name.
      await alice.pay(name)
      await untilFound(cluster, name)
    }
    const before = await countsOf(liar)
    const expected = name === NOBODY ? null : alice.party
    await until(`the proxy to have heard ${lie}`, async () => {
      for (const quorum of ['weak', 'strong']) {
        const answer = await lookup(cluster, name, { ...verified, 'x-quorum': quorum })
        expect(answer.body.answer?.entry?.user ?? null, JSON.stringify(answer.body)).toBe(expected)
        const request = byName(name)
        const { signers } = await verifyReceipt(answer.body.receipt, { genesis, request })
        // The other half of what it says is true.
        if (lie !== 'equivocate') expect(signers).not.toContain(liar)
        expect(answer.ms).toBeLessThan(2000)
      }
      const page = await send(proxied('/ans-entries?page_size=100&name_prefix=alice'))
      expect(page.body.entries).toMatchObject([{ name: ALICE, user: alice.party }])
      return (await countsOf(liar))[counted] > before[counted] ? true : undefined
    })
  })

  it('a head that nobody else has costs neither availability nor freshness', async () => {
    await cluster.lie('sv-3', 'head')
    for (let count = 0; count < 5; count++) {
      const answer = await lookup(cluster, ALICE, { 'x-quorum': 'strong' })
      expect([answer.status, answer.headers.get('x-quorum-outcome')]).toEqual([200, 'verified'])
      expect(answer.ms).toBeLessThan(2000)
    }
  })

  it.each([
    ['killed', () => cluster.kill('sv-4')],
    ['hung', () => cluster.pause('sv-4')],
    ['slow', () => cluster.slow('sv-4', { latencyMs: 300 })],
    ['silent on its sockets', () => cluster.drop('sv-4')],
    ['resetting its connections', () => cluster.reset('sv-4')],
    ['lying in another way', () => cluster.lie('sv-4', 'deny')],
  ] as const)('beside one that is %s: n − threshold faults change nothing', async (_, fault) => {
    await cluster.lie('sv-3', 'value')
    await fault()
    const party = encodeURIComponent(alice.party)
    for (let count = 0; count < 5; count++) {
      const answer = await lookup(cluster, ALICE)
      expect(answer.body.entry?.user, JSON.stringify(answer.body)).toBe(alice.party)
      expect((await lookup(cluster, NOBODY)).headers.get('x-quorum-outcome')).toBe(
        'verified-absent',
      )
    }
    for (const path of ['/ans-entries?page_size=2', `/ans-entries/by-party/${party}`, '/dso'])
      expect((await send(proxied(path))).status, path).toBe(200)
  })

  it('gives evidence against itself when it signs both, which outlives the validator', async () => {
    await cluster.lie('sv-2', 'equivocate')
    const evidence = await until('evidence', async () => {
      const answer = await lookup(cluster, ALICE, verified)
      expect(answer.body.answer.entry.user).toBe(alice.party)
      const found = (await send(proxied('/evidence'))).body.evidence
      return found.find(({ signer }: { signer: string }) => signer === 'sv-2')
    })
    expect(await verifyEvidence(evidence, { genesis })).toMatchObject({
      signer: 'sv-2',
      kind: 'answer',
    })
    const judged = await quorumscan('verify', await fileOf(evidence))
    expect(judged).toMatchObject({ code: 0, text: expect.stringContaining('sv-2 signed two') })

    await cluster.restart('validator')
    await untilFound(cluster, ALICE)
    expect((await send(proxied('/evidence'))).body.evidence).toEqual(
      expect.arrayContaining([evidence]),
    )
    expect(await readFile(join(cluster.dataDir, 'logs/validator.log'), 'utf8')).toContain(
      'sv-2 contradicts itself',
    )
  })
})

describe('two nodes that show another history', () => {
  const takeOver = async (name: string) => {
    await cluster.kill(name)
    return startForkedNode({
      url: cluster.urls.nodes[name] ?? '',
      honestUrl: cluster.urls.nodes['sv-1'] ?? '',
      historyHash: '66'.repeat(32),
    })
  }

  it('are a fork: no answer, and an alarm that names both histories', async () => {
    await using _first = await takeOver('sv-3')
    await using _second = await takeOver('sv-4')
    const status = await until('the alarm', async () => {
      await lookup(cluster, ALICE)
      const { extra } = (await send(`${cluster.urls.validator}/status`)).body.success
      return extra.reader.forks.length > 0 ? extra : undefined
    })
    expect(status.reader.forks[0].histories).toContainEqual({
      historyHash: '66'.repeat(32),
      // In the order in which they were heard.
      nodes: expect.toSatisfy((nodes: string[]) => `${nodes.toSorted()}` === 'sv-3,sv-4'),
    })
    const answer = await lookup(cluster, ALICE, { 'x-quorum': 'strong' })
    expect([answer.status, answer.body.code]).toEqual([502, 'CONSENSUS_DISPUTED'])
    expect(answer.body.error).toMatch(
      /^Failed to reach consensus from 4 Scan nodes, requiring 3 matching responses\./,
    )
    expect(status.reader.nodes).toContainEqual(expect.objectContaining({ name: 'sv-3' }))
  })
})
