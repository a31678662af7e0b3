import { describe, expect, it } from 'vitest'
import {
  activitiesRequest,
  ansRulesRequest,
  listEntriesByPartyRequest,
  listEntriesRequest,
} from './requests.ts'

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

  it('name the bounds of a page of activities, an empty id as none', () => {
    const { parameters, body, pin } = activitiesRequest({ page_size: 7, begin_after_id: '' })
    expect(parameters).toEqual({ page_size: 7, begin_after_id: null, sort_order: 'asc' })
    expect(JSON.parse(Buffer.from(body ?? []).toString())).toEqual(parameters)
    expect(pin).toBeUndefined()
    const id = '0000000000000007:0001'
    expect(
      activitiesRequest({ page_size: 1, begin_after_id: id, sort_order: 'desc' }).parameters,
    ).toEqual({ page_size: 1, begin_after_id: id, sort_order: 'desc' })
  })

  it('encode what they pass on', () => {
    const party = `a::1220${'0'.repeat(64)}`
    expect(listEntriesRequest({ page_size: 1, name_prefix: 'ä&page_size=1000#' }).path).toBe(
      '/v0/ans-entries?name_prefix=%C3%A4%26page_size%3D1000%23&page_size=1',
    )
    expect(listEntriesByPartyRequest(party, { page_size: 5 })).toMatchObject({
      parameters: { party, page_size: 5, page_token: null },
      path: `/v0/ans-entries/by-party/a%3A%3A1220${'0'.repeat(64)}/all?page_size=5`,
    })
  })

  it('leave the offset to the token of a page', () => {
    expect(listEntriesRequest({ page_size: 1, page_token: 'Zm9v' })).toMatchObject({
      path: '/v0/ans-entries?name_prefix=&page_size=1&page_token=Zm9v',
      pin: 'request',
    })
  })
})
