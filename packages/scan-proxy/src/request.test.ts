import type { Genesis } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { minOffsetOf, thresholdOf, thresholdTextOf } from './request.ts'

// Only the number of nodes matters here.
const genesis = { nodes: [1, 2, 3, 4] } as unknown as Genesis
const network = { genesis, trustRule: null }
const { signal } = new AbortController()
const request = (headers: object, more: object = {}) => ({
  url: '/',
  headers,
  query: {},
  forward: {},
  signal,
  ...more,
  waiting: <T>(wait: () => Promise<T>) => wait(),
  waitingForNodes: <T>(wait: () => Promise<T>) => wait(),
})

describe('the threshold of a request', () => {
  it('is weak by default, and the header wins over the query', () => {
    const all = { query: { quorum: 'all' } }
    expect(thresholdTextOf(request({}))).toBe('weak')
    expect(thresholdTextOf(request({}, all))).toBe('all')
    expect(thresholdTextOf(request({ 'x-quorum': '3' }, all))).toBe('3')
    expect(thresholdOf('3', network)).toBe(3)
  })

  it.each(['1', '5', '0', '-1', '2.5', 'WEAK', 'two', '', ' 2'])('refuses %j', (quorum) => {
    expect(() => thresholdOf(quorum, network)).toThrow(
      expect.objectContaining({ code: 'INVALID_QUORUM' }),
    )
  })

  it('is of the members of a trust rule, whatever the size of the network', () => {
    const trusting = { genesis, trustRule: { members: ['a', 'b', 'c'], threshold: 1 } }
    expect(thresholdOf('1', trusting)).toBe(1)
    expect(() => thresholdOf('4', trusting)).toThrow(
      expect.objectContaining({ details: { quorum: '4', min: 1, max: 3 } }),
    )
  })
})

it('the least offset is in the header or in the body', () => {
  expect(minOffsetOf(request({}))).toBe(0)
  expect(minOffsetOf(request({ 'x-min-offset': 5 }, { body: {} }))).toBe(5)
  expect(minOffsetOf(request({ 'x-min-offset': 5 }, { body: { min_offset: 7 } }))).toBe(7)
  expect(minOffsetOf(request({ 'x-min-offset': 5 }, { body: { min_offset: null } }))).toBe(5)
})
