/** The measured lookup against a proxy and nodes that are small HTTP servers. */
import { createSystemClock } from '@quorumscan/base'
import { serve, until } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { percentilesOf, startProber } from './prober.ts'

const clock = createSystemClock()
const TRUTH = '{"entry":{"name":"dso.ns"}}'

const DENIAL = '{"code":"ENTRY_NOT_FOUND"}'

const answer = (paths: Readonly<Record<string, string>>, type = 'application/json') =>
  serve((request, response) => {
    const body = paths[request.url ?? '']
    if (body === undefined || body.includes('ENTRY_NOT_FOUND')) response.statusCode = 404
    response.setHeader('content-type', type)
    response.setHeader('x-quorum-outcome', 'verified')
    response.setHeader('x-quorum-offset', '7')
    response.end(body ?? '{"code":"ROUTE_NOT_FOUND"}')
  })

const atNodes = { kind: 'verified', latencyMs: 1, needed: 2, signers: ['sv-1'], asked: [] }
const rest = { lookUp: async () => atNodes, clock, isReady: () => true }

it('reports which nodes agree with the proxy, which do not, and which do not answer', async () => {
  const path = '/v0/ans-entries/by-name/dso.ns'
  await using validator = await answer({ '/v0/scan-proxy/ans-entries/by-name/dso.ns': TRUTH })
  await using honest = await answer({ [path]: TRUTH })
  await using liar = await answer({ [path]: '{"entry":null}' })
  await using denier = await answer({ [path]: DENIAL })
  await using broken = await answer({})
  const nodes = [honest, liar, denier, broken].map(({ url }, index) => ({
    name: `sv-${index + 1}`,
    url,
  }))
  const prober = startProber({ validatorUrl: validator.url, nodes, ...rest })
  const sample = await until('a sample in which the proxy was in time', () =>
    prober.samples.recent().find(({ outcome }) => outcome === 'verified'),
  )
  expect(sample.offset).toBe(7)
  expect(sample.atNodes).toEqual(atNodes)
  expect(sample.nodes.map(({ vote }) => vote)).toEqual([
    'agreed',
    'dissented',
    'dissented',
    'failed',
  ])
  expect(nodes.map(({ name }) => prober.statistics(name).agreement)).toEqual([100, 0, 0, null])
  expect(prober.statistics('sv-4').lastError).toBe('ROUTE_NOT_FOUND')
  await prober.close()
})

it('also asks for a name that does not exist, and detects nodes that invent it or send another content type', async () => {
  const name = 'absent-name.unverified.ns'
  const path = `/v0/ans-entries/by-name/${name}`
  await using validator = await answer({ [`/v0/scan-proxy/ans-entries/by-name/${name}`]: DENIAL })
  await using honest = await answer({
    [path]: '{"error":"in other words","code":"ENTRY_NOT_FOUND"}',
  })
  await using inventor = await answer({ [path]: TRUTH })
  await using disguised = await answer({ [path]: DENIAL }, 'text/html')
  const nodes = [honest, inventor, disguised].map(({ url }, index) => ({
    name: `sv-${index + 1}`,
    url,
  }))
  const prober = startProber({ validatorUrl: validator.url, nodes, ...rest })
  const sample = await until('a sample of an absence', () =>
    prober.samples.recent().find((one) => one.nodes.some(({ vote }) => vote === 'agreed')),
  )
  expect(sample.nodes.map(({ vote }) => vote)).toEqual(['agreed', 'dissented', 'failed'])
  expect(sample.nodes[2]?.reason).toBe('answers with text/html')
  await prober.close()
})

it('takes the nearest rank as a percentile', () => {
  expect(percentilesOf([])).toEqual({ p50Ms: null, p99Ms: null })
  expect(percentilesOf([4, 3, 2, 1])).toEqual({ p50Ms: 2, p99Ms: 4 })
})
