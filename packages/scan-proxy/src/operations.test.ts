import { formatPageToken } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { type NodeRead, OPERATIONS, voteRequestOf } from './operations.ts'

const genesis = { nodes: [{ name: 'sv-1' }, { name: 'sv-2' }] } as unknown as Genesis
const network = { genesis, genesisHash: 'ab'.repeat(32) }

/** What nodes are asked for a request with these parts. */
function requestOf(id: keyof typeof OPERATIONS, request: object = {}) {
  const readOf = OPERATIONS[id].readOf as (request: object, of: typeof network) => NodeRead
  return voteRequestOf(readOf(request, network))
}
const listEntriesRequest = (query: object) => requestOf('proxyListEntries', { query })
const listEntriesByPartyRequest = (party: string, query: object) =>
  requestOf('proxyListEntriesByParty', { params: { party }, query })
const ansRulesRequest = (body: object) => requestOf('proxyGetAnsRules', { body })
const activitiesRequest = (body: object) => requestOf('proxyListActivities', { body })
const amuletRulesRequest = requestOf('proxyGetAmuletRules')
const miningRoundsRequest = requestOf('proxyGetOpenAndIssuingMiningRounds')

describe('requests to nodes', () => {
  it('name every parameter, also the ones that were defaulted', () => {
    expect(listEntriesRequest({ page_size: 10 })).toMatchObject({
      parameters: { name_prefix: '', page_size: 10, page_token: null },
      path: '/v0/ans-entries?name_prefix=&page_size=10',
      pin: 'reader',
    })
    const { parameters, body } = ansRulesRequest({})
    expect(JSON.parse(Buffer.from(body ?? []).toString())).toEqual(parameters)
    expect(parameters).toEqual({
      cached_ans_rules_contract_id: null,
      cached_ans_rules_domain_id: null,
    })
  })

  it('name the bounds of a page of activities, an empty id as null', () => {
    const { parameters, body, pin } = activitiesRequest({ page_size: 7, begin_after_id: '' })
    expect(parameters).toEqual({ page_size: 7, begin_after_id: null, sort_order: 'asc' })
    expect(JSON.parse(Buffer.from(body ?? []).toString())).toEqual(parameters)
    expect(pin).toBe('reader')
    const id = '0000000000000007:0001'
    expect(
      activitiesRequest({ page_size: 1, begin_after_id: id, sort_order: 'desc' }).parameters,
    ).toEqual({ page_size: 1, begin_after_id: id, sort_order: 'desc' })
  })

  it('encode names and parties in the path', () => {
    const party = `a::1220${'0'.repeat(64)}`
    expect(listEntriesRequest({ page_size: 1, name_prefix: 'ä&page_size=1000#' }).path).toBe(
      '/v0/ans-entries?name_prefix=%C3%A4%26page_size%3D1000%23&page_size=1',
    )
    expect(listEntriesByPartyRequest(party, { page_size: 5 })).toMatchObject({
      parameters: { party, page_size: 5, page_token: null },
      path: `/v0/ans-entries/by-party/a%3A%3A1220${'0'.repeat(64)}/all?page_size=5`,
    })
  })

  it('take the offset from the page token, and refuse a token of another list', () => {
    const subject = { kind: 'prefix', prefix: 'al' } as const
    const token = formatPageToken(network.genesisHash, subject, { after: 'alice.ns', offset: 7 })
    expect(
      listEntriesRequest({ page_size: 1, name_prefix: 'al', page_token: token }),
    ).toMatchObject({
      path: `/v0/ans-entries?name_prefix=al&page_size=1&page_token=${token}`,
      pin: 'request',
    })
    const foreign = formatPageToken('cd'.repeat(32), subject, { after: 'alice.ns', offset: 7 })
    for (const [prefix, text] of [
      ['a', token],
      ['al', foreign],
      ['al', 'nonsense'],
    ])
      expect(() =>
        listEntriesRequest({ page_size: 1, name_prefix: prefix, page_token: text }),
      ).toThrow(expect.objectContaining({ code: 'INVALID_PAGE_TOKEN' }))
  })
})

describe('answers of nodes', () => {
  const party = `a::1220${'0'.repeat(64)}`
  const contract = {
    template_id: 'p:M:E',
    contract_id: `00${'a'.repeat(64)}`,
    created_event_blob: '',
    created_at: '2026-01-01T00:00:00.000000Z',
  }
  const state = (payload: object) => ({ contract: { ...contract, payload }, domain_id: 'd' })
  const dso = (svs: unknown) => ({
    dso_party_id: party,
    voting_threshold: 1,
    latest_mining_round: state({}),
    coin_rules: state({}),
    amulet_rules: state({}),
    dso_rules: state({ svs }),
    sv_node_states: [],
    initial_round: '0',
  })
  const svs = [
    { name: 'sv-2', party },
    { name: 'sv-1', party },
  ]
  const entry = { contract_id: null, user: party, name: 'a', url: '', description: '' }
  const page = { entries: [{ ...entry, expires_at: null }], next_page_token: null }
  const rules = { ans_rules_update: { contract: null, domain_id: 'd' } }
  const activities = activitiesRequest({ page_size: 1 })
  const roundsOf = (round: object) => ({
    open_mining_rounds: { id: round },
    time_to_live_in_microseconds: 1,
    issuing_mining_rounds: {},
  })

  it.each([
    ['a page', listEntriesRequest({ page_size: 1 }), page],
    ['names of a party', listEntriesByPartyRequest(party, { page_size: 1 }), page],
    ['rules', ansRulesRequest({}), rules],
    ['activities', activities, { activities: [] }],
    ['the operator', requestOf('proxyGetDsoPartyId'), { dso_party_id: party }],
    ['addresses', requestOf('proxyListScans'), { scans: [] }],
    ['rules of coin', amuletRulesRequest, { amulet_rules_update: state({}) }],
    ['rounds', miningRoundsRequest, roundsOf(state({}))],
    ['the rules of the operator', requestOf('proxyGetDso'), dso(svs)],
  ])('%s: a body of the right form is a vote, any other is not (D-35)', (_, request, body) => {
    expect(request.isValid?.(body)).toBe(true)
    for (const other of [
      {},
      [],
      null,
      { entry: null },
      { ...body, [Object.keys(body)[0] ?? '']: 7 },
    ])
      expect(request.isValid?.(other), JSON.stringify(other)).toBe(false)
  })

  it('coin rules and rounds without a contract are no vote, as nothing is cached', () => {
    const cached = { contract: null, domain_id: 'd' }
    expect(amuletRulesRequest.isValid?.({ amulet_rules_update: cached })).toBe(false)
    expect(miningRoundsRequest.isValid?.(roundsOf(cached))).toBe(false)
  })

  it.each([
    ['lacks a node', svs.slice(1)],
    ['lacks a party', [{ name: 'sv-1' }, { name: 'sv-2', party }]],
    ['is missing', undefined],
    ['is a string', 'sv-1'],
  ])('an answer of /v0/dso is no vote if its list of nodes %s', (_, list) => {
    expect(requestOf('proxyGetDso').isValid?.(dso(list))).toBe(false)
  })
})
