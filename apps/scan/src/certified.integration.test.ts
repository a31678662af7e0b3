/** Certified answers of real nodes that pull each other's statements, read by the verifier that readers have. */
import { sha256 } from '@quorumscan/base'
import { AMOUNT_SCALE } from '@quorumscan/model'
import type { RunningApp } from '@quorumscan/server'
import { type HttpRequest, send, until, untilTrue } from '@quorumscan/testkit'
import { it as base, type FixturesOf } from '@quorumscan/testkit/fixtures'
import { createPlatformCrypto } from '@quorumscan/verifier'
import {
  batchQuery,
  CERTIFIED_MEDIA_TYPE,
  type Certified,
  type CertifiedPage,
  type CertifiedVerifier,
  createCertifiedVerifier,
  entriesQuery,
  type HashedNetwork,
  nameQuery,
  networkQuery,
  type PageRequest,
  partyEntriesQuery,
  partyQuery,
  type RangeQuery,
} from '@quorumscan/verifier/certified'
import { expect } from 'vitest'
import { startNetwork } from './testing/network.ts'

/** A mining round. */
const TICK_MICROS = 600_000_000
const NAMES = ['alice.unverified.ns', 'alicia.unverified.ns', 'bob.unverified.ns']
const accept = CERTIFIED_MEDIA_TYPE

const it = base
  .extend('world', { scope: 'file' }, async ({ fileResources }) => {
    const network = fileResources.opened(await startNetwork(4))
    const { genesis, genesisHash } = network
    const hashed: HashedNetwork = { genesis, genesisHash, sha256 }
    const verifier = createCertifiedVerifier({ ...hashed, crypto: createPlatformCrypto() })
    const nodes: RunningApp[] = []
    fileResources.onClose(() => Promise.all(nodes.map((node) => node[Symbol.asyncDispose]())))
    nodes.push(...(await network.startNodes()))
    const wallet = await network.createWallet('alice')
    for (const name of NAMES) {
      await wallet.pay({ name, description: 'é "quoted"' })
      const path = `/v0/ans-entries/by-name/${name}`
      // A state is certified a moment after a node has it.
      await until(
        name,
        async () =>
          (await readFrom({ nodes, verifier }, path, nameQuery(name))).answer ?? undefined,
      )
    }
    return { network, hashed, verifier, nodes, wallet }
  })
  .extend('network', { scope: 'file' }, ({ world }) => world.network)
  .extend('hashed', { scope: 'file' }, ({ world }) => world.hashed)
  .extend('verifier', { scope: 'file' }, ({ world }) => world.verifier)
  .extend('nodes', { scope: 'file' }, ({ world }) => world.nodes)
  .extend('wallet', { scope: 'file' }, ({ world }) => world.wallet)
  .extend(
    'read',
    ({ nodes, verifier }) =>
      <Answer>(
        path: string,
        stateQuery: RangeQuery<Answer>,
        signers: 'weak' | 'all' = 'weak',
        request: HttpRequest = {},
      ) =>
        readFrom({ nodes, verifier }, path, stateQuery, signers, request),
  )
  .extend(
    'urlOf',
    ({ nodes }) =>
      (index: number) =>
        nodes[index]?.url ?? '',
  )
  /** The path with parties in it, which are known only once the network runs. */
  .extend(
    'pathOf',
    ({ wallet, network }) =>
      (path: string) =>
        path
          .replace('PARTY', encodeURIComponent(wallet.party))
          .replace('DSO', encodeURIComponent(network.genesis.dso)),
  )
  .extend('stopNodes', ({ nodes }) => async () => {
    await Promise.all(nodes.splice(0).map((node) => node[Symbol.asyncDispose]()))
  })
  .extend('startNodes', ({ nodes, network }) => async () => {
    certifying.clear()
    nodes.push(...(await network.startNodes()))
  })
  .extend('isDiverged', ({ urlOf }) => async (index: number): Promise<boolean> => {
    const { body } = await send(`${urlOf(index)}/readyz`)
    return body?.code === 'STATE_DIVERGED'
  })
type Given = Pick<FixturesOf<typeof it>, 'wallet' | 'hashed'>

it.for<[string, string, (given: Given) => RangeQuery<unknown>]>([
  ['a name', '/v0/ans-entries/by-name/alice.unverified.ns', () => nameQuery('alice.unverified.ns')],
  ['a node', '/v0/ans-entries/by-name/sv-2.sv.ns', () => nameQuery('sv-2.sv.ns')],
  [
    'a party',
    '/v0/ans-entries/by-party/PARTY',
    ({ wallet, hashed }: Given) => partyQuery(wallet.party, hashed),
  ],
  [
    'the operator',
    '/v0/ans-entries/by-party/DSO',
    ({ hashed }: Given) => partyQuery(hashed.genesis.dso, hashed),
  ],
])(
  'the certified entry of %s equals the answer of all nodes',
  async ([_, path, ask], { urlOf, pathOf, read, network, wallet, hashed }) => {
    const { entry } = (await send(`${urlOf(0)}${pathOf(path)}`)).body
    const { answer, signers } = await read(pathOf(path), ask({ wallet, hashed }), 'all')
    expect(answer).toEqual(entry)
    expect(signers).toEqual(network.genesis.nodes.map(({ name }) => name))
  },
)

it.for<[string, string, (given: Given) => RangeQuery<unknown>]>([
  ['a name', '/v0/ans-entries/by-name/carol.unverified.ns', () => nameQuery('carol.unverified.ns')],
  ['a text', '/v0/ans-entries/by-name/a%00b', () => nameQuery('a\0b')],
  [
    'a party',
    `/v0/ans-entries/by-party/carol::1220${'ab'.repeat(32)}`,
    ({ hashed }: Given) => partyQuery(`carol::1220${'ab'.repeat(32)}`, hashed),
  ],
])(
  'the absence of an entry of %s is certified with status 200',
  async ([_, path, ask], { urlOf, read, hashed, wallet }) => {
    expect(await send(`${urlOf(0)}${path}`)).toAnswer(404)
    expect((await read(path, ask({ hashed, wallet }))).answer).toBeNull()
  },
)

it('each page of a list is certified, up to the last one', async ({ read, hashed }) => {
  const found: string[] = []
  let pageToken: string | null = null
  do {
    const page: PageRequest = { pageSize: 2, pageToken }
    const token: string = pageToken === null ? '' : `&page_token=${pageToken}`
    const path = `/v0/ans-entries?name_prefix=ali&page_size=2${token}`
    const { answer }: Certified<CertifiedPage> = await read(path, entriesQuery('ali', page, hashed))
    found.push(...answer.entries.map(({ name }) => name))
    pageToken = answer.next_page_token
  } while (pageToken !== null)
  expect(found).toEqual(NAMES.slice(0, 2))
})

it('certifies all names of a party, batches and network data', async ({
  read,
  pathOf,
  wallet,
  hashed,
  urlOf,
  verifier,
}) => {
  const page = { pageSize: 10, pageToken: null }
  const ofParty = await read(
    pathOf('/v0/ans-entries/by-party/PARTY/all?page_size=10'),
    partyEntriesQuery(wallet.party, page, hashed),
  )
  expect(ofParty.answer.entries.map(({ name }) => name)).toEqual(NAMES)

  const lookups = [{ name: 'bob.unverified.ns' }, { name: 'unknown' }, { party: wallet.party }]
  const batch = await send(`${urlOf(1)}/v0/ans-entries/batch`, {
    method: 'POST',
    body: { lookups },
    headers: { accept },
  })
  const { answer } = await verifier.verify(batch.text, batchQuery(lookups, hashed), 'weak')
  expect(answer.map((entry) => entry?.name ?? null)).toEqual([NAMES[2], null, NAMES[0]])
})

it('certified network data equals the answer at its offset, after any change', async ({
  read,
  urlOf,
  network,
}) => {
  const rules = { method: 'POST', body: {} }
  const readAll = async () => {
    const values: unknown[] = []
    for (const [path, value, request] of [
      ['/v0/dso?shared=true', 'dso', {}],
      ['/v0/scans', 'scans', {}],
      ['/v0/ans-rules', 'ans-rules', rules],
    ] as const) {
      const { answer, offset } = await read(path, networkQuery(value), 'weak', request)
      const headers = { 'x-read-at-offset': String(offset) }
      const plain = await send(`${urlOf(0)}${path}`, { ...request, headers })
      expect(answer).toEqual(plain.body)
      values.push(answer)
    }
    return JSON.stringify(values)
  }
  const readUntil = (change: string) =>
    until(`certificates of ${change}`, async () => {
      const values = await readAll()
      return values.includes(change) ? values : undefined
    })
  await readUntil('"svName":"sv-4"')
  await network.setFee(123n * AMOUNT_SCALE)
  await readUntil('"entryFee":"123.0')
  await network.advance(TICK_MICROS)
  certifying.clear()
  const before = await readAll()
  await until('another round', async () => ((await readAll()) === before ? undefined : true))
})

it('a request that cannot be certified is refused with a specific code', async ({ urlOf }) => {
  const path = '/v0/ans-entries/by-name/alice.unverified.ns'
  const ask = async (query: string) => {
    const { status, body } = await send(`${urlOf(0)}${path}?${query}`, { headers: { accept } })
    return [status, body.code]
  }
  expect(await ask('min_offset=1000000')).toEqual([503, 'NO_CERTIFICATE'])
  expect(await ask('signers=1')).toEqual([400, 'INVALID_QUORUM'])
  expect(await ask('signers=many')).toEqual([400, 'INVALID_QUORUM'])
})

it('a certified state that is no longer kept is refused with 503, not 4xx', async ({
  nodes,
  network,
  urlOf,
  startNodes,
  read,
  wallet,
}) => {
  const path = '/v0/ans-entries/by-name/alice.unverified.ns'
  await Promise.all(nodes.slice(1).map((node) => node[Symbol.asyncDispose]()))
  // Longer than nodes store states, while no member certifies a later one.
  await network.advance(TICK_MICROS)
  const refused = await until('the node to have moved on', async () => {
    const reply = await send(`${urlOf(0)}${path}`, { headers: { accept } })
    return reply.status === 200 ? undefined : reply
  })
  expect([refused.status, refused.body.code]).toEqual([503, 'NO_CERTIFICATE'])
  await nodes.splice(0)[0]?.[Symbol.asyncDispose]()
  await startNodes()
  expect((await read(path, nameQuery('alice.unverified.ns'), 'all')).answer?.user).toBe(
    wallet.party,
  )
})

it('nodes certify again after all were restarted, although the log does not grow', async ({
  stopNodes,
  startNodes,
  read,
  wallet,
}) => {
  await stopNodes()
  await startNodes()
  const path = '/v0/ans-entries/by-name/alice.unverified.ns'
  expect((await read(path, nameQuery('alice.unverified.ns'), 'all')).answer?.user).toBe(
    wallet.party,
  )
})

it('a node that lost its replica signs the same bytes again for a state', async ({
  urlOf,
  stopNodes,
  network,
  startNodes,
}) => {
  const statements = async () =>
    (await send(`${urlOf(3)}/v0/state-statements?after=0`)).body.statements as { offset: number }[]
  const before = new Map((await statements()).map((statement) => [statement.offset, statement]))
  await stopNodes()
  const redis = network.nodeRedis[3]?.connect()
  await redis?.flushall()
  redis?.disconnect()
  await startNodes()
  const again = await until('statements of before', async () => {
    const common = (await statements()).filter(({ offset }) => before.has(offset))
    return common.length > 0 ? common : undefined
  })
  for (const statement of again) expect(statement).toEqual(before.get(statement.offset))
})

it('a value that was changed in the Redis of one node is never served as certified', async ({
  network,
  stopNodes,
  startNodes,
  isDiverged,
  urlOf,
  read,
}) => {
  const redis = network.nodeRedis[3]?.connect()
  const versions = (await redis?.hgetBuffer('{replica}:names', 'bob.unverified.ns')) as Buffer
  const forged = Buffer.from(versions.toString('latin1').replace('quoted', 'QUOTED'), 'latin1')
  await redis?.hset('{replica}:names', 'bob.unverified.ns', forged)
  redis?.disconnect()
  // The name cache may hide the change. A restart empties it.
  await stopNodes()
  await startNodes()
  await untilTrue('the node to report it', () => isDiverged(3))
  const path = '/v0/ans-entries/by-name/bob.unverified.ns'
  const refused = await send(`${urlOf(3)}${path}`, { headers: { accept } })
  expect([refused.status, refused.body.code]).toEqual([503, 'STATE_DIVERGED'])
  expect((await read(path, nameQuery('bob.unverified.ns'))).answer?.description).toContain('quoted')
})

it('a node reports a changed value from the first read on', async ({
  network,
  urlOf,
  isDiverged,
}) => {
  const name = 'alice.unverified.ns'
  const redis = network.nodeRedis[2]?.connect()
  const versions = (await redis?.hgetBuffer('{replica}:names', name)) as Buffer
  const forged = Buffer.from(versions.toString('latin1').replace('quoted', 'QUOTED'), 'latin1')
  await redis?.hset('{replica}:names', name, forged)
  redis?.disconnect()
  const reply = await send(`${urlOf(2)}/v0/ans-entries/by-name/${name}`, { headers: { accept } })
  expect([reply.status, reply.body.code]).toEqual([503, 'STATE_DIVERGED'])
  expect(await isDiverged(2)).toBe(true)
})

/**
 * The `signers` (`weak`, `all`) for which the nodes have certified a state since they started. From
 * then on they always have such a certificate, unless record time jumps: states from before the
 * jump are not kept, and nodes must exchange signatures before the next certificate.
 */
const certifying = new Set<string>()

type Nodes = { readonly nodes: readonly RunningApp[]; readonly verifier: CertifiedVerifier }

/** Reads at a node, which after a start may have no certificate yet, and verifies. */
async function readFrom<Answer>(
  { nodes, verifier }: Nodes,
  path: string,
  stateQuery: RangeQuery<Answer>,
  signers: 'weak' | 'all' = 'weak',
  request: HttpRequest = {},
) {
  const separator = path.includes('?') ? '&' : '?'
  return until(`a certified answer to ${path}`, async () => {
    const url = `${nodes[0]?.url}${path}${separator}signers=${signers}`
    const reply = await send(url, { ...request, headers: { accept } })
    const isEarly = reply.body?.code === 'NO_CERTIFICATE' && !certifying.has(signers)
    if (isEarly) return undefined
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, accept])
    certifying.add(signers)
    return await verifier.verify(reply.text, stateQuery, signers)
  })
}
