/**
 * Certified documents of the proxy and the command line on real processes, also while a node lies with its own key. All
 * tests share one cluster, and each leaves all of it up.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type HttpAnswer, send, until, untilTrue } from '@quorumscan/testkit'
import { it as base, directoryOfFile, type FixturesOf } from '@quorumscan/testkit/fixtures'
import {
  type CanonicalRequest,
  createWebCrypto,
  hashGenesis,
  parseGenesis,
  requestOfLookup,
  type Threshold,
  verifyEvidence,
} from '@quorumscan/verifier'
import {
  CERTIFIED_MEDIA_TYPE,
  createCertifiedVerifier,
  queryOf,
  sha256,
} from '@quorumscan/verifier/certified'
import type { RunningCluster } from 'quorumscan/testing'
import { describe, expect } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { createUser, lookup, untilFound } from './client.ts'
import { runCommand } from './command.ts'
import { startForkedNode } from './forked-node.ts'

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startCluster({ nodes: 4 })),
  )
  .extend('genesis', { scope: 'file' }, async ({ cluster }) =>
    parseGenesis(JSON.parse(await readFile(join(cluster.dataDir, 'genesis.json'), 'utf8'))),
  )
  .extend('untilAllVote', { scope: 'file' }, ({ cluster }) => () => {
    return until('all four nodes to vote', async () =>
      (await lookup(cluster, ALICE, { 'x-quorum': 'all' })).status === 200 ? true : undefined,
    )
  })
  /** Verifies a document with the genesis alone. */
  .extend(
    'prove',
    { scope: 'file' },
    ({ genesis }) =>
      async (document: string, request: CanonicalRequest, threshold: Threshold = 'weak') => {
        const genesisHash = await hashGenesis(genesis)
        const network = { genesis, genesisHash, crypto: createWebCrypto(), sha256 }
        return createCertifiedVerifier(network).verify(
          document,
          queryOf(request, network),
          threshold,
        )
      },
  )
  .extend(
    'proxied',
    { scope: 'file' },
    ({ cluster }) =>
      (path: string) =>
        `${cluster.urls.validator}/v0/scan-proxy${path}`,
  )
  .extend(
    'quorumscan',
    { scope: 'file' },
    ({ cluster }) =>
      (...args: readonly string[]) =>
        runCommand(cluster, ...args),
  )
  .extend(
    'countsOf',
    { scope: 'file' },
    ({ cluster }) =>
      async (node: string): Promise<NodeCounts> => {
        const { nodes } = (await send(`${cluster.urls.validator}/status`)).body.success.extra.reader
        return nodes.find(({ name }: NodeCounts) => name === node)
      },
  )
  .extend('takeOver', { scope: 'file' }, ({ cluster }) => async (name: string) => {
    await cluster.kill(name)
    return startForkedNode({
      url: cluster.urls.nodes[name] ?? '',
      honestUrl: cluster.urls.nodes['sv-1'] ?? '',
      historyHash: '66'.repeat(32),
    })
  })
  /** With its name registered, which every test needs. */
  .extend('alice', { scope: 'file', auto: true }, async ({ cluster, untilAllVote }) => {
    const alice = await createUser(cluster, 'alice')
    await alice.pay(ALICE)
    await untilFound(cluster, ALICE)
    await untilAllVote()
    await until('a certified state with the name', async () =>
      (await lookup(cluster, ALICE, { 'x-quorum': 'certified-strong' })).status === 200
        ? true
        : undefined,
    )
    return alice
  })
type Given = Pick<FixturesOf<typeof it>, 'cluster'>
const directory = directoryOfFile()
const ALICE = 'alice.unverified.ns'
const MISSING = 'missing.unverified.ns'
const NOWHERE = 'http://127.0.0.1:1'
const certified = { accept: CERTIFIED_MEDIA_TYPE }

it.afterEach(async ({ cluster, untilAllVote }) => {
  await cluster.heal()
  for (const { name, state } of (await cluster.status()).nodes) {
    if (state === 'paused') await cluster.resume(name)
    if (state === 'down') await cluster.restart(name)
  }
  await untilAllVote()
})

const byName = (name: string) => requestOfLookup({ name })

async function fileOf(document: unknown): Promise<string> {
  const path = join(directory, `${randomBytes(6).toString('hex')}.json`)
  await writeFile(path, typeof document === 'string' ? document : JSON.stringify(document))
  return path
}

describe('a certified document', () => {
  it('is the answer of each proxied read with its media type, and verifies offline', async ({
    alice,
    proxied,
    prove,
  }) => {
    const party = encodeURIComponent(alice.party)
    const page = { name_prefix: '', page_size: 2, page_token: null }
    const get = (path: string) => send(proxied(path), { headers: certified })
    const post = (path: string, body: unknown) =>
      send(proxied(path), {
        method: 'POST',
        headers: { ...certified, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const rules = { cached_ans_rules_contract_id: null, cached_ans_rules_domain_id: null }
    const lookups = [{ name: ALICE }, { party: alice.party }, { name: MISSING }]
    const cases: readonly [string, Promise<HttpAnswer>, CanonicalRequest][] = [
      ['a name', get(`/ans-entries/by-name/${ALICE}`), byName(ALICE)],
      ['no name', get(`/ans-entries/by-name/${MISSING}`), byName(MISSING)],
      ['a party', get(`/ans-entries/by-party/${party}`), requestOfLookup({ party: alice.party })],
      [
        'no party',
        get(`/ans-entries/by-party/x${party}`),
        requestOfLookup({ party: `x${alice.party}` }),
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
        'a batch',
        post('/ans-entries/batch', { lookups }),
        { operation: 'lookupEntries', parameters: { lookups } },
      ],
      ['rules', post('/ans-rules', {}), { operation: 'getAnsRules', parameters: rules }],
      ['its rules', get('/dso'), { operation: 'getDso', parameters: { shared: true } }],
      ['addresses', get('/scans'), { operation: 'listScans', parameters: {} }],
    ]
    for (const [title, pending, request] of cases) {
      const { text, headers, status } = await pending
      expect([title, status]).toEqual([title, 200])
      expect(headers.get('content-type'), title).toBe(CERTIFIED_MEDIA_TYPE)
      const proven = await prove(text, request)
      expect(proven.answer === null, title).toBe(title.startsWith('no '))
      expect(headers.get('x-quorum-offset'), title).toBe(String(proven.offset))
      expect(headers.get('x-quorum-agreed'), title).toBe(proven.signers.join())
    }
  })

  it('has at least as many signatures as the threshold', async ({ cluster, prove }) => {
    for (const [quorum, signers] of [
      ['weak', 2],
      ['strong', 3],
      ['all', 4],
    ] as const) {
      const { text } = await lookup(cluster, ALICE, { ...certified, 'x-quorum': quorum })
      await prove(text, byName(ALICE), signers)
    }
  })

  it('is accepted by `verify`, which refuses a tampered document', async ({
    cluster,
    quorumscan,
    alice,
  }) => {
    const present = await lookup(cluster, ALICE, { ...certified, 'x-quorum': 'strong' })
    const absent = await lookup(cluster, MISSING, certified)
    const nameFlags = ['--name', ALICE] as const
    const good = await quorumscan('verify', await fileOf(present.text), ...nameFlags)
    expect(good).toMatchObject({ code: 0, text: expect.stringMatching(/^valid\n/) })
    for (const part of [ALICE, alice.party, String(present.headers.get('x-quorum-offset')), 'sv-'])
      expect(good.text).toContain(part)
    const none = await quorumscan('verify', await fileOf(absent.text), '--name', MISSING)
    expect(none).toMatchObject({ code: 0, text: expect.stringContaining('has no entry') })
    const tampered = present.text.replaceAll('entry of alice', 'entry of Alice')
    expect(tampered).not.toBe(present.text)
    for (const [document, ...args] of [
      [tampered, ...nameFlags],
      [present.text.replace(/"offset":\d+/, '"offset":1'), ...nameFlags],
      [present.text, '--name', MISSING],
    ] as const) {
      const bad = await quorumscan('verify', await fileOf(document), ...args)
      expect(bad.code, bad.text).toBe(1)
      expect(bad.text).toMatch(/^invalid, because /)
    }
  })
})

describe('bad input', () => {
  it.for(['0', '1', '5', '2f+2x', '-2', 'Strong'])(
    'a quorum of %j is refused',
    async (quorum, { cluster, proxied }) => {
      const inHeader = await lookup(cluster, ALICE, { 'x-quorum': quorum })
      expect([inHeader.status, inHeader.body.code]).toEqual([400, 'INVALID_QUORUM'])
      const path = `/ans-entries/by-name/${ALICE}?quorum=${encodeURIComponent(quorum)}`
      expect((await send(proxied(path))).body.code).toBe('INVALID_QUORUM')
    },
  )

  it.for(['-1', 'x', '1.5', '9007199254740993'])(
    'a read floor of %j is refused',
    async (floor, { cluster }) => {
      const answer = await lookup(cluster, ALICE, { 'x-min-offset': floor })
      expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_ARGUMENT'])
    },
  )

  it('a read floor beyond the head returns CONSENSUS_LAGGING with retry-after', async ({
    cluster,
  }) => {
    const answer = await lookup(cluster, ALICE, { 'x-min-offset': '1000000000' })
    expect([answer.status, answer.body.code]).toEqual([503, 'CONSENSUS_LAGGING'])
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]/)
    expect(answer.body).toMatchObject({ retryable: true, details: { reason: 'floor' } })
  })

  it('`resolve` and `verify` refuse an invalid threshold and list the valid ones', async ({
    quorumscan,
  }) => {
    for (const args of [
      ['resolve', ALICE, '--quorum', '5'],
      ['verify', await fileOf('{}'), '--threshold', '1'],
    ])
      expect(await quorumscan(...args)).toMatchObject({
        code: 2,
        text: 'quorumscan: a threshold is weak, strong, all or a number from 2 to 4\n',
      })
    expect(await quorumscan('resolve', 'a::b')).toMatchObject({ code: 2 })
  })
})

describe('resolve', () => {
  it('proves an answer of one node, writes the receipt, and lists its signers', async ({
    quorumscan,
    alice,
  }) => {
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
    expect(await quorumscan('verify', file, '--name', MISSING)).toMatchObject({ code: 1 })
  })

  it('prints JSON that `verify` accepts through a pipe', async ({ cluster, quorumscan }) => {
    const bin = `${process.execPath} ${join(import.meta.dirname, '../../cluster/bin/quorumscan.mjs')}`
    const here = `--data-dir ${cluster.dataDir}`
    const proven = await promisify(execFile)('sh', [
      '-c',
      `${bin} resolve ${MISSING} --json ${here} | ${bin} verify - ${here}`,
    ])
    expect(proven.stdout).toContain(`valid\n\nthe name ${MISSING} has no entry`)
    const printed = await quorumscan('resolve', MISSING, '--json')
    const lie = printed.stdout.replace('"answer":null', `"answer":{"name":"${MISSING}"}`)
    expect(await quorumscan('verify', await fileOf(lie))).toMatchObject({ code: 1 })
  })

  it('shows the name of a party, and whether the name resolves to that party', async ({
    quorumscan,
    alice,
  }) => {
    const found = await quorumscan('resolve', alice.party, '--quorum', 'strong')
    expect(found.code, found.text).toBe(0)
    expect(found.text).toContain(ALICE)
    expect(found.text).toMatch(/name match +yes/)
    const none = await quorumscan('resolve', `x${alice.party}`, '--json')
    expect(JSON.parse(none.stdout)).toMatchObject({ kind: 'verified-absent', match: false })
  })

  it('lists nodes that are down or hung, and needs no validator', async ({
    cluster,
    quorumscan,
  }) => {
    await cluster.kill('sv-1')
    await cluster.pause('sv-2')
    await cluster.kill('validator')
    try {
      const absent = await quorumscan('resolve', MISSING)
      expect(absent.code, absent.text).toBe(0)
      expect(absent.text).toContain(`${MISSING}: verified-absent\n`)
      for (const tried of [
        /sv-1: refused/,
        /sv-2: (no answer in \d+ ms|timeout)/,
        /sv-[34]: answered/,
      ])
        expect(absent.text).toMatch(tried)
      expect(await quorumscan('resolve', MISSING, '--votes')).toMatchObject({ code: 4 })
    } finally {
      await cluster.restart('validator')
    }
  })

  it('needs only a genesis and one node that is up', async ({ cluster }) => {
    const genesis = ['--genesis', join(cluster.dataDir, 'genesis.json')]
    const { nodes } = await cluster.status()
    const here = (...args: readonly string[]) =>
      runCommand({ ...cluster, dataDir: join(directory, 'none') }, ...args)
    const urlOf = (name: string) => nodes.find((node) => node.name === name)?.url ?? ''
    const found = await here('resolve', ALICE, ...genesis, '--scan', NOWHERE, urlOf('sv-3'))
    expect(found.code, found.text).toBe(0)
    expect(found.text).toContain(`${ALICE}: verified\n`)
    const check = await here('check', ...genesis, '--scan', urlOf('sv-3'))
    expect(check.text).toContain('all replicas are equal')
    const voted = await here(
      ...['resolve', ALICE, '--votes', '--validator', cluster.urls.validator],
      ...[...genesis, '--scan', urlOf('sv-3')],
    )
    expect([voted.code, voted.text]).toEqual([0, expect.stringContaining(', by votes: ')])
    for (const [args, problem] of [
      [[...genesis], 'with `--members DIR` or with `--scan URL`'],
      [['--scan', urlOf('sv-3')], 'name its genesis with `--genesis` as well'],
      [[...genesis, '--scan', 'sv-3'], '--scan sv-3 is not an http or https address'],
      [[...genesis, '--scan', NOWHERE, '--votes'], 'name it with `--validator`'],
      [[...genesis, '--scan', NOWHERE, '--validator', NOWHERE], 'needs --genesis and --votes'],
    ] as const) {
      const refused = await here('resolve', ALICE, ...args)
      expect([refused.code, refused.text.replace(/\s+/g, ' ')]).toEqual([
        2,
        expect.stringContaining(problem),
      ])
    }
    expect(await here('resolve', ALICE, ...genesis, '--scan', NOWHERE)).toMatchObject({ code: 4 })
  })

  it('shows votes with their entries, also if nodes contradict each other', async ({
    quorumscan,
    alice,
    cluster,
  }) => {
    const agreed = await quorumscan('resolve', ALICE, '--votes')
    expect(agreed.code, agreed.text).toBe(0)
    expect(agreed.text).toContain(`${ALICE}: verified, by votes: 2 needed`)
    expect(agreed.text).toMatch(/: agreed, at offset \d+\n/)
    expect(agreed.text).toContain(alice.party)
    await cluster.lie('sv-3', 'deny')
    const disputed = await quorumscan('resolve', ALICE, '--votes', '--quorum', 'all')
    expect(disputed.code, disputed.text).toBe(1)
    // The outcome is decided as soon as two answers conflict, regardless of the number of replies.
    expect(disputed.text).toMatch(/^alice\S+: disputed, by votes: 4 needed, [2-4]\/4 answered\n/)
    expect(disputed.text).toMatch(/sv-3: at offset \d+\n {2}no entry/)
    expect(disputed.text).toContain(alice.party)
    // The proof needs no agreement of nodes at this moment.
    expect(await quorumscan('resolve', ALICE, '--quorum', 'all')).toMatchObject({ code: 0 })
  })
})

type NodeCounts = { readonly name: string; readonly errors: number; readonly dissents: number }

describe('a node that lies with its own key', () => {
  /** The counter of the proxy: errors for invalid answers, dissents for votes that differ from the others. */
  const lies: readonly (readonly [Parameters<RunningCluster['lie']>[1], 'errors' | 'dissents'])[] =
    [
      ['value', 'dissents'],
      ['invent', 'dissents'],
      ['deny', 'dissents'],
      ['equivocate', 'dissents'],
      ['stale', 'dissents'],
      ['other-name', 'dissents'],
      ['garbage', 'errors'],
      ['oversize', 'errors'],
      ['content-type', 'errors'],
      ['redirect', 'errors'],
      // Last, because it keeps the node busy for some time.
      ['trickle', 'errors'],
    ]

  it.for(lies)(
    'cannot change an answer by the lie %s',
    async ([lie, counted], { cluster, alice, countsOf, proxied }) => {
      const liar = 'sv-3'
      const name = lie === 'invent' ? MISSING : lie === 'stale' ? 'stale.unverified.ns' : ALICE
      await cluster.lie(liar, lie)
      if (lie === 'stale') {
        // The name does not exist when the lie begins.
        await alice.pay(name)
        await untilFound(cluster, name)
        // A state is certified a moment after nodes have it.
        await untilTrue('the name to be certified', async () => {
          const { body } = await lookup(cluster, name, { 'x-quorum': 'certified-strong' })
          return body.entry !== undefined
        })
      }
      const before = await countsOf(liar)
      const expected = name === MISSING ? null : alice.party
      await until(`the proxy to have counted ${lie}`, async () => {
        for (const quorum of ['weak', 'strong', 'certified', 'certified-strong']) {
          const answer = await lookup(cluster, name, { 'x-quorum': quorum })
          expect(answer.body.entry?.user ?? null, JSON.stringify(answer.body)).toBe(expected)
          // An equivocating node also sends true answers, and its earlier signatures are valid.
          const isVoted = !quorum.startsWith('certified')
          if (isVoted && lie !== 'equivocate')
            expect(answer.headers.get('x-quorum-agreed')).not.toContain(liar)
        }
        const page = await send(proxied('/ans-entries?page_size=100&name_prefix=alice'))
        expect(page.body.entries).toMatchObject([{ name: ALICE, user: alice.party }])
        return (await countsOf(liar))[counted] > before[counted] ? true : undefined
      })
    },
  )

  it('does not stop certified reads by invalid signatures', async ({ cluster, quorumscan }) => {
    await cluster.lie('sv-3', 'signature')
    await until('a state that all but the liar signed', async () => {
      const { status, headers } = await lookup(cluster, ALICE, { 'x-quorum': 'certified-strong' })
      expect(status).toBe(200)
      return headers.get('x-quorum-agreed') === 'sv-1,sv-2,sv-4' ? true : undefined
    })
    for (let count = 0; count < 5; count++)
      expect(await quorumscan('resolve', ALICE)).toMatchObject({ code: 0 })
  })

  it('does not affect reads by reporting a head that no other node has', async ({ cluster }) => {
    await cluster.lie('sv-3', 'head')
    for (let count = 0; count < 5; count++) {
      const answer = await lookup(cluster, ALICE, { 'x-quorum': 'strong' })
      expect([answer.status, answer.headers.get('x-quorum-outcome')]).toEqual([200, 'verified'])
    }
  })

  it.for([
    ['killed', ({ cluster }: Given) => cluster.kill('sv-4')],
    ['hung', ({ cluster }: Given) => cluster.pause('sv-4')],
    ['slow', ({ cluster }: Given) => cluster.slow('sv-4', { latencyMs: 300 })],
    ['silent on its sockets', ({ cluster }: Given) => cluster.drop('sv-4')],
    ['resetting its connections', ({ cluster }: Given) => cluster.reset('sv-4')],
    ['lying in another way', ({ cluster }: Given) => cluster.lie('sv-4', 'deny')],
  ] as const)(
    'cannot change an answer while another node is %s',
    async ([_, fault], { cluster, alice, proxied }) => {
      await cluster.lie('sv-3', 'value')
      await fault({ cluster })
      const party = encodeURIComponent(alice.party)
      for (let count = 0; count < 5; count++) {
        const answer = await lookup(cluster, ALICE)
        expect(answer.body.entry?.user, JSON.stringify(answer.body)).toBe(alice.party)
        expect((await lookup(cluster, MISSING)).headers.get('x-quorum-outcome')).toBe(
          'verified-absent',
        )
      }
      for (const path of ['/ans-entries?page_size=2', `/ans-entries/by-party/${party}`, '/dso'])
        expect((await send(proxied(path))).status, path).toBe(200)
    },
  )

  it('creates evidence against itself by equivocation, which survives a restart of the validator', async ({
    cluster,
    alice,
    proxied,
    genesis,
    quorumscan,
  }) => {
    await cluster.lie('sv-2', 'equivocate')
    const evidence = await until('evidence', async () => {
      const answer = await lookup(cluster, ALICE, { 'x-quorum': 'certified' })
      expect(answer.body.entry.user).toBe(alice.party)
      const found = (await send(proxied('/evidence'))).body.evidence
      return found.find(({ signer }: { signer: string }) => signer === 'sv-2')
    })
    expect(await verifyEvidence(evidence, { genesis })).toMatchObject({
      signer: 'sv-2',
      kind: 'state',
    })
    const judged = await quorumscan('verify', await fileOf(evidence))
    expect(judged).toMatchObject({ code: 0, text: expect.stringContaining('sv-2 signed two') })

    await cluster.restart('validator')
    await untilFound(cluster, ALICE)
    expect((await send(proxied('/evidence'))).body.evidence).toEqual(
      expect.arrayContaining([evidence]),
    )
    expect(await readFile(join(cluster.dataDir, 'logs/validator.log'), 'utf8')).toContain(
      'sv-2 equivocates',
    )
  })
})

describe('two nodes with another history', () => {
  it('are reported as a fork with both histories, and reads return CONSENSUS_DISPUTED', async ({
    takeOver,
    cluster,
  }) => {
    await using _first = await takeOver('sv-3')
    await using _second = await takeOver('sv-4')
    const status = await until('the alarm', async () => {
      await lookup(cluster, ALICE)
      const { extra } = (await send(`${cluster.urls.validator}/status`)).body.success
      return extra.reader.forks.length > 0 ? extra : undefined
    })
    expect(status.reader.forks[0].histories).toContainEqual({
      historyHash: '66'.repeat(32),
      // The order is that of the replies.
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
