/** Four scan nodes with a real log: their answers, which must be equal. */
import { fromHex, type Resources, verifySignature } from '@quorumscan/base'
import type { ScanConfig } from '@quorumscan/config'
import { parseTime } from '@quorumscan/model'
import type { RunningApp } from '@quorumscan/server'
import { type HttpAnswer, send, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { canonicalJson, encodeAddressStatement } from '@quorumscan/verifier'
import { describe, expect } from 'vitest'
import { startNetwork } from './testing/network.ts'

const get = (node: RunningApp, path: string, headers: Record<string, string> = {}) =>
  send(node.url + path, { headers })
const post = (
  node: RunningApp,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) => send(node.url + path, { method: 'POST', body, headers })

/** Minimum time between two addresses of a node. */
const ADDRESS_CHANGE_MICROS = 10_000_000

const NO_ROUNDS = {
  cached_open_mining_round_contract_ids: [],
  cached_issuing_round_contract_ids: [],
}
const offsetOf = (answer: HttpAnswer) => Number(answer.headers.get('x-ledger-offset'))
const isReady = (node: RunningApp) =>
  until(`${node.url} to be ready`, async () =>
    (await get(node, '/readyz')).status === 200 ? true : undefined,
  )

const find = (node: RunningApp, name: string) =>
  until(`${name} to be found`, async () => {
    const answer = await get(node, `/v0/ans-entries/by-name/${name}`)
    return answer.status === 200 ? answer : undefined
  })

/** Nodes of a network, its wallet, and what tests do to them. */
async function startWorld(nodeCount: number, resources: Resources) {
  const network = resources.opened(await startNetwork(nodeCount))
  let aheadMicros = 0
  const clock = { ...network.clock, nowMicros: () => network.clock.nowMicros() + aheadMicros }
  const nodes: RunningApp[] = []
  resources.onClose(() => Promise.all(nodes.map((node) => node[Symbol.asyncDispose]())))
  const start = async (index: number, options: Partial<ScanConfig> = {}) => {
    nodes[index] = await network.startNode(index, options, { clock })
  }
  await Promise.all(network.genesis.nodes.map((_, index) => start(index)))
  await Promise.all(nodes.map(isReady))
  const wallet = await network.createWallet('alice')
  return {
    network,
    nodes,
    wallet,
    start,
    first: nodes[0] as RunningApp,
    stop: async (index: number) => nodes[index]?.[Symbol.asyncDispose](),
    /** Sets the clock of the nodes ahead of that of the log. */
    setAhead(micros: number) {
      aheadMicros = micros
    },
    /** Registers names, one by one. */
    async register(names: readonly string[]) {
      for (const name of names) {
        await wallet.pay({ name, url: 'https://alice.example/', description: 'é "quoted"' })
        await find(nodes[0] as RunningApp, name)
      }
    },
  }
}

const it = base
  .extend('four', { scope: 'file' }, ({ fileResources }) => startWorld(4, fileResources))
  .extend('one', { scope: 'file' }, ({ fileResources }) => startWorld(1, fileResources))

describe('four scan nodes', () => {
  it('answer every lookup at one offset with the same bytes', async ({ four }) => {
    const { network, nodes, first, wallet } = four
    await four.register(['bob', 'alice', 'alice-2'].map((label) => `${label}.unverified.ns`))
    const { dso } = network.genesis

    const newest = await get(first, '/v0/ans-entries/by-name/alice.unverified.ns')
    expect(newest.body).toEqual({
      entry: {
        contract_id: expect.stringMatching(/^00[0-9a-f]{64}$/),
        user: wallet.party,
        name: 'alice.unverified.ns',
        url: 'https://alice.example/',
        description: 'é "quoted"',
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      },
    })
    expect(newest.headers.get('cache-control')).toBe('no-store')
    expect(Number(newest.headers.get('x-ledger-head'))).toBeGreaterThanOrEqual(offsetOf(newest))

    const party = encodeURIComponent(wallet.party)
    const at = String(offsetOf(await get(first, '/v0/ans-entries?page_size=1')))
    const requests: readonly ((node: RunningApp) => Promise<HttpAnswer>)[] = [
      ...[
        '/v0/ans-entries?page_size=1000',
        '/v0/ans-entries?page_size=2&name_prefix=al',
        '/api/scan/v0/ans-entries?page_size=2',
        '//v0/ans-entries/by-name/bob.unverified.ns',
        '/v0/ans-entries/by-name/dso.ns',
        '/v0/ans-entries/by-name/sv-3.sv.ns',
        `/v0/ans-entries/by-party/${party}`,
        `/v0/ans-entries/by-party/${party}/all?page_size=2`,
        `/v0/ans-entries/by-party/${encodeURIComponent(dso)}`,
        '/v0/dso-party-id',
        '/v0/dso?shared=true',
        '/v0/scans',
      ].map((path) => (node: RunningApp) => get(node, path, { 'x-read-at-offset': at })),
      (node) => post(node, '/v0/amulet-rules', {}, { 'x-read-at-offset': at }),
      (node) =>
        post(node, '/v0/open-and-issuing-mining-rounds', NO_ROUNDS, { 'x-read-at-offset': at }),
      (node) =>
        post(node, '/v0/ans-entries/batch', {
          at_offset: Number(at),
          lookups: [
            { name: 'bob.unverified.ns' },
            { name: 'unknown.unverified.ns' },
            { party: wallet.party },
            { party: dso },
            { name: 'bob.unverified.ns' },
          ],
        }),
    ]
    for (const [index, request] of requests.entries()) {
      const answers = await Promise.all(
        nodes.map((node) =>
          until(`request ${index} at ${at}`, async () => {
            const answer = await request(node)
            return answer.status === 503 ? undefined : answer
          }),
        ),
      )
      const [one] = answers as [HttpAnswer, ...HttpAnswer[]]
      expect(one.status, one.text).toBe(200)
      for (const other of answers) {
        expect(other.text).toBe(one.text)
        for (const header of ['offset', 'record-time', 'history-hash'])
          expect(other.headers.get(`x-ledger-${header}`)).toBe(
            one.headers.get(`x-ledger-${header}`),
          )
      }
      expect(offsetOf(one)).toBe(Number(at))
    }
  })

  it('publish their signed addresses, and a new address with the next sequence', async ({
    four,
  }) => {
    const { network, nodes, first } = four
    const scansOf = async (node: RunningApp) => (await get(node, '/v0/scans')).body.scans[0].scans
    const records = await until('all addresses', async () => {
      const scans = await scansOf(first)
      return scans.length === 4 ? scans : undefined
    })
    for (const [index, node] of network.genesis.nodes.entries()) {
      const { svName, publicUrl, sequence, signature } = records[index]
      expect([svName, publicUrl]).toEqual([node.name, nodes[index]?.url])
      const message = encodeAddressStatement({
        genesisHash: network.genesisHash,
        name: svName,
        url: publicUrl,
        sequence,
      })
      const statement = { publicKey: node.scanKey, message, signature: fromHex(signature) }
      expect(verifySignature(statement)).toBe(true)
    }
    await four.stop(3)
    await network.advance(ADDRESS_CHANGE_MICROS)
    await four.start(3, { publicUrl: 'https://sv-4.example' })
    const next = records[3].sequence + 1
    await until('the new address', async () => {
      const [, , , last] = await scansOf(first)
      return last.publicUrl === 'https://sv-4.example' && last.sequence === next ? true : undefined
    })
  })

  it('register with three of four alive, and the fourth finds the name after its return', async ({
    four,
  }) => {
    await four.stop(2)
    await four.register(['three.unverified.ns'])
    const before = await find(four.first, 'three.unverified.ns')
    await four.network.nodeRedis[2]?.kill()
    await four.network.nodeRedis[2]?.restart()
    await four.start(2)
    const returned = four.nodes[2] as RunningApp
    expect((await find(returned, 'three.unverified.ns')).text).toBe(before.text)
  })

  it('register again after the Redis of every node was killed in the middle', async ({ four }) => {
    const name = 'killed.unverified.ns'
    const paid = four.wallet.pay({ name })
    const { nodeRedis } = four.network
    await Promise.all(nodeRedis.map((redis) => redis.kill()))
    await paid
    const away = await get(four.first, `/v0/ans-entries/by-name/${name}`)
    expect([away.status, away.body.code]).toEqual([503, 'DEPENDENCY_UNAVAILABLE'])
    await Promise.all(nodeRedis.map((redis) => redis.restart()))
    await find(four.first, name)
  })
})

describe('one scan node', () => {
  it('returns pages at one offset while names are registered', async ({ one }) => {
    const labels = ['a1', 'a2', 'a3', 'a4', 'b1']
    await one.register(labels.map((label) => `${label}.unverified.ns`))
    const { first: node, wallet } = one
    const page = await get(node, '/v0/ans-entries?page_size=2&name_prefix=a')
    await wallet.pay({ name: 'a3-later.unverified.ns' })
    await find(node, 'a3-later.unverified.ns')
    const next = (token: string, more = '') =>
      get(node, `/v0/ans-entries?page_size=2&name_prefix=a&page_token=${token}${more}`)
    const second = await next(page.body.next_page_token)
    const namesOf = (answer: HttpAnswer) =>
      answer.body.entries.map((entry: { name: string }) => entry.name)
    expect([...namesOf(page), ...namesOf(second)]).toEqual(
      labels.slice(0, 4).map((label) => `${label}.unverified.ns`),
    )
    expect(second.body.next_page_token).toBeNull()
    expect(offsetOf(second)).toBe(offsetOf(page))

    const token = page.body.next_page_token
    const refused = await Promise.all([
      get(node, `/v0/ans-entries?page_size=2&name_prefix=b&page_token=${token}`),
      next(`${token}A`),
      next('AAAA'),
      get(node, `/v0/ans-entries?page_size=2&name_prefix=a&page_token=${token}`, {
        'x-read-at-offset': '0',
      }),
    ])
    for (const answer of refused)
      expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_PAGE_TOKEN'])

    const all = await get(node, '/v0/ans-entries?page_size=1000')
    const names = namesOf(all)
    expect(names).toContain('dso.ns')
    expect(names).toContain('sv-1.sv.ns')
    expect(names).toEqual([...names].sort())
  })

  it('answers 404 with the sentence of D-13, and the offset of the absence', async ({ one }) => {
    const { first: node, wallet, network } = one
    const byName = await get(node, '/v0/ans-entries/by-name/does%20not%20exist')
    expect(byName).toAnswer(404)
    expect(byName.body).toMatchObject({
      error: 'No ans entry found for name: does not exist',
      code: 'ENTRY_NOT_FOUND',
      definite: true,
      retryable: false,
    })
    expect(byName.headers.get('x-ledger-history-hash')).toMatch(/^[0-9a-f]{64}$/)
    const party = wallet.party.replace('alice', 'bob')
    const byParty = await get(node, `/v0/ans-entries/by-party/${party}`)
    expect(byParty.body.error).toBe(`No ans entry found for party: ${party}`)
    expect(
      await post(node, '/v0/ans-entries/batch', { lookups: [] }, { 'content-type': 'text/plain' }),
    ).toMatchObject({
      status: 200,
      text: '{"results":[]}',
    })
    const absent = await post(node, '/v0/ans-entries/batch', { lookups: [{ name: 'x' }] })
    expect(absent.text).toBe('{"results":[{"entry":null}]}')
    // A lookup with both members is refused (D-14).
    for (const name of ['sv-1.sv.ns', 5, '\ud800'])
      expect(
        await post(node, '/v0/ans-entries/batch', {
          lookups: [{ name, party: network.genesis.dso }],
        }),
      ).toMatchObject({ status: 400 })
  })

  it('reads at the requested offset, waits for a near one, refuses others', async ({ one }) => {
    await one.register(['read.unverified.ns'])
    const { first: node } = one
    const path = '/v0/ans-entries/by-name/read.unverified.ns'
    expect(await get(node, path, { 'x-read-at-offset': '0' })).toAnswer(404)
    const head = Number((await get(node, path)).headers.get('x-ledger-head'))
    const far = await get(node, path, { 'x-read-at-offset': String(head + 1_000_000) })
    expect([far.status, far.body.code]).toEqual([503, 'OFFSET_NOT_REACHED'])
    expect(Number(far.headers.get('x-ledger-head'))).toBeGreaterThanOrEqual(head)
    expect(far.headers.get('x-ledger-head-time')).toMatch(/Z$/)
    const below = await post(node, '/v0/ans-entries/batch', {
      lookups: [],
      at_offset: 0,
      min_offset: 1,
    })
    expect([below.status, below.body.code]).toEqual([400, 'INVALID_ARGUMENT'])
    const floor = await post(node, '/v0/ans-entries/batch', { lookups: [], min_offset: head })
    expect(offsetOf(floor)).toBeGreaterThanOrEqual(head)
  })

  it('answers at its head while the log is down, and reports that it is not ready', async ({
    one,
  }) => {
    const { first: node, network } = one
    await network.logRedis.kill()
    one.setAhead(20_000_000)
    const answer = await get(node, '/v0/ans-entries/by-name/dso.ns')
    expect(answer).toAnswer(200)
    const ready = await get(node, '/readyz')
    expect([ready.status, ready.body.code]).toEqual([503, 'NOT_READY'])
    expect(ready.body.details).toEqual({ state: 'catching-up' })
    expect(await get(node, '/livez')).toAnswer(200)
    one.setAhead(0)
    await network.logRedis.restart()
    await isReady(node)
  })

  it('serves rules, operator, genesis and health', async ({ one }) => {
    const { first: node } = one
    const { genesis } = one.network
    const rules = (await post(node, '/v0/ans-rules', {})).body.ans_rules_update
    expect(rules.domain_id).toBe(genesis.synchronizerId)
    expect(rules.contract.template_id).toMatch(/^[0-9a-f]{64}:Ans:AnsRules$/)
    const cached = await post(node, '/v0/ans-rules', {
      cached_ans_rules_contract_id: rules.contract.contract_id,
    })
    expect(cached.body.ans_rules_update.contract).toBeNull()
    const coin = (await post(node, '/v0/amulet-rules', {})).body.amulet_rules_update
    const { activeSynchronizer } =
      coin.contract.payload.configSchedule.initialValue.decentralizedSynchronizer
    expect([activeSynchronizer, coin.contract.payload.isDevNet]).toEqual([
      genesis.synchronizerId,
      genesis.devnet,
    ])
    const known = { cached_amulet_rules_contract_id: coin.contract.contract_id }
    expect((await post(node, '/v0/amulet-rules', known)).body).toEqual({
      amulet_rules_update: { contract: null, domain_id: genesis.synchronizerId },
    })
    const dso = (await get(node, '/v0/dso')).body
    expect(dso.amulet_rules).toEqual(coin)
    expect(dso).toMatchObject({
      sv_user: 'sv-1',
      dso_party_id: genesis.dso,
      voting_threshold: 1,
      initial_round: '0',
    })
    expect(dso.dso_rules.contract.payload.svs[0].party).toBe(dso.sv_party_id)
    // To the byte: readers hash the served document.
    const { text } = await get(node, '/v0/genesis')
    expect(text).toBe(canonicalJson(genesis))
    expect((await get(node, '/status')).body.success).toMatchObject({
      id: 'sv-1',
      active: true,
      ports: { http: Number(new URL(node.url).port) },
      extra: { state: 'live', offset: expect.any(Number) },
    })
    expect((await get(node, '/version')).body).toEqual({
      version: '0.1.0',
      commit_ts: expect.stringMatching(/Z$/),
    })
  })

  it('returns the open rounds that the caller does not have yet', async ({ one }) => {
    const { first: node } = one
    const path = '/v0/open-and-issuing-mining-rounds'
    const answer = await post(node, path, NO_ROUNDS)
    const rounds: [string, { contract: { contract_id: string; payload: RoundPayload } }][] =
      Object.entries(answer.body.open_mining_rounds)
    expect(rounds.map(([, { contract }]) => contract.payload.round.number)).toEqual(['2', '1', '0'])
    for (const [id, { contract }] of rounds) expect(contract.contract_id).toBe(id)
    const closesAt = parseTime(rounds[2]?.[1].contract.payload.targetClosesAt ?? '') ?? 0
    const readAt = parseTime(answer.headers.get('x-ledger-record-time') ?? '') ?? 0
    expect(answer.body.time_to_live_in_microseconds).toBe(closesAt - readAt)

    const [known, ...others] = rounds.map(([id]) => id)
    const cached = { ...NO_ROUNDS, cached_open_mining_round_contract_ids: [known] }
    const { open_mining_rounds: again } = (await post(node, path, cached)).body
    expect(again[known as string].contract).toBeNull()
    for (const id of others) expect(again[id].contract.contract_id).toBe(id)
    const tooMany = { ...NO_ROUNDS, cached_issuing_round_contract_ids: Array(101).fill(known) }
    expect(await post(node, path, tooMany)).toAnswer(400)
  })
})

type RoundPayload = { readonly round: { readonly number: string }; readonly targetClosesAt: string }
