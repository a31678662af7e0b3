import { isPartyId } from '@quorumscan/model'
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accepts } from './accepts.ts'
import { unitsOf } from './cost.ts'
import { errorCodesOf, type LedgerRouteDef, type RouteDef } from './route-def.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { scanRoutes } from './routes/scan.ts'
import { synchronizerRoutes } from './routes/synchronizer.ts'
import { validatorRoutes } from './routes/validator.ts'
import { PARTY_PATTERN } from './schemas/scalars.ts'

const tables: Record<string, Readonly<Record<string, RouteDef>>> = {
  scan: scanRoutes,
  validator: validatorRoutes,
  synchronizer: synchronizerRoutes,
}

describe.each(Object.entries(tables))('the table of the %s', (_, table) => {
  const routes = Object.entries(table)

  it('names every route by its key', () => {
    expect(routes.map(([, route]) => route.operationId)).toEqual(routes.map(([key]) => key))
  })

  it('has one route for a method and path', () => {
    const places = routes.map(
      ([, { method, path }]) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`,
    )
    expect(new Set(places).size).toBe(places.length)
  })

  it.each(routes)('%s declares exactly the parameters of its path', (_id, route) => {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    expect(Object.keys(route.params?.properties ?? {})).toEqual(inPath)
  })

  it.each(routes)('%s reads headers by their lower-case name', (_id, route) => {
    for (const name of Object.keys(route.headers?.properties ?? {}))
      expect(name).toBe(name.toLowerCase())
  })

  it.each(routes)('%s lists no error twice', (_id, route) => {
    expect(new Set(route.errors).size).toBe(route.errors.length)
  })

  it.each(routes)('%s declares no body for GET', (_id, route) => {
    expect(route.method === 'GET' && route.body !== undefined).toBe(false)
  })
})

it('the party pattern matches exactly the ledger’s party ids (D-30)', () => {
  const hex = fc.string({
    unit: fc.constantFrom('a', 'f', '0', 'g', 'A'),
    minLength: 63,
    maxLength: 65,
  })
  const hint = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', '-', '_', 'Z', '9', ':', 'é', '\n') }),
    fc.constantFrom('x'.repeat(185), 'x'.repeat(186)),
  )
  const text = fc.oneof(
    fc.string(),
    fc.tuple(hint, fc.constantFrom('::1220', ':1220', '::'), hex).map((parts) => parts.join('')),
    fc
      .tuple(hint, fc.constantFrom('', '\n', ' '))
      .map(([h, tail]) => `${h}::1220${'a'.repeat(64)}${tail}`),
  )
  const pattern = new RegExp(PARTY_PATTERN, 'u')
  fc.assert(
    fc.property(text, (party) => {
      expect(pattern.test(party)).toBe(isPartyId(party))
    }),
  )
})

describe('prices (D-33)', () => {
  const cost = (route: RouteDef, query: unknown, body: unknown, headers: unknown = {}) =>
    unitsOf(route, { params: {}, query, headers, body })

  it.each([
    [1, 1],
    [10, 1],
    [11, 2],
    [1000, 100],
  ])('a page of %d costs %d', (pageSize, units) => {
    expect(cost(scanRoutes.listEntries, { page_size: pageSize }, undefined)).toBe(units)
    expect(cost(validatorRoutes.proxyListEntriesByParty, { page_size: pageSize }, undefined)).toBe(
      units,
    )
  })

  it.each([
    [1, 1],
    [11, 2],
    [1000, 100],
  ])('%d rows of the activity history cost %d', (pageSize, units) => {
    const body = { page_size: pageSize }
    expect(cost(scanRoutes.listActivities, {}, body)).toBe(units)
    expect(cost(validatorRoutes.proxyListActivities, {}, body)).toBe(units)
  })

  it.each([
    [0, 1],
    [1, 1],
    [256, 256],
  ])('%d lookups cost %d', (count, units) => {
    const lookups = Array.from({ length: count }, () => ({ name: 'a' }))
    expect(cost(scanRoutes.lookupEntries, {}, { lookups })).toBe(units)
    expect(cost(validatorRoutes.proxyLookupEntries, {}, { lookups })).toBe(units)
  })

  it('a lookup through the proxy costs 3, a document of the network 8', () => {
    const { proxyGetEntryByName, proxyResolve, proxyGetDso, proxyGetAmuletRules } = validatorRoutes
    for (const route of [proxyGetEntryByName, proxyResolve])
      expect(cost(route, {}, undefined)).toBe(3)
    for (const route of [proxyGetDso, proxyGetAmuletRules])
      expect(cost(route, {}, undefined)).toBe(8)
  })

  it('each submission of a user costs 30, one that pays 60, and each other operation less', () => {
    const PAYMENTS = ['acceptSubscriptionRequest', 'paySubscription', 'createTransfer']
    const isSubmission = (id: string) =>
      /^(?:submit|create|accept|reject|withdraw|tap|pay|cancel|register|allocate)/.test(id)
    const of = (
      routes: Readonly<Record<string, { readonly cost?: unknown; readonly auth: string }>>,
    ) => Object.entries(routes).filter(([, { auth }]) => auth !== 'none')
    for (const [id, { cost: units = 1 }] of [...of(validatorRoutes), ...of(ledgerRoutes)])
      if (typeof units === 'number' && id !== 'createLedgerUser')
        expect([id, units]).toEqual([
          id,
          PAYMENTS.includes(id) ? 60 : isSubmission(id) ? 30 : Math.min(units, 29),
        ])
    const entry = new Uint8Array(10_240)
    expect(cost(synchronizerRoutes.submitEntry, {}, entry)).toBe(40)
  })

  it('pages and lists of the ledger are work of unknown size, which one client has once', () => {
    const hasSize = (schema: unknown) => {
      const { properties = {} } = schema as { properties?: object }
      return 'maxPageSize' in properties || 'limit' in properties
    }
    const pages = Object.entries<LedgerRouteDef>(ledgerRoutes).filter(
      ([, { body = {}, query = {} }]) => hasSize(body) || hasSize(query),
    )
    const ids = pages.map(([id]) => id)
    expect(ids).toEqual(expect.arrayContaining(['getUpdates', 'getUpdatesPage']))
    expect(pages.flatMap(([id, { isList }]) => (isList === true ? id : []))).toEqual(ids)
  })

  it('a read of a contract of the ledger costs 3, before the rows of the update that archived it', () => {
    const { getContractById, getEventsByContractId } = ledgerRoutes
    expect([getContractById.cost, getEventsByContractId.cost]).toEqual([3, 3])
  })

  it('probes are free', () => {
    for (const table of Object.values(tables))
      for (const id of ['livez', 'readyz', 'getStatus', 'getVersion'])
        expect(table[id]?.cost).toBe(0)
  })
})

it('a route lists its own errors and those of every server', () => {
  expect(
    [...errorCodesOf(validatorRoutes.acceptSubscriptionRequest)].sort(),
  ).toMatchInlineSnapshot(`
    [
      "BODY_TOO_LARGE",
      "CHOICE_REFUSED",
      "CLOCK_OFF",
      "CONTRACT_CONSUMED",
      "CONTRACT_NOT_FOUND",
      "DEPENDENCY_UNAVAILABLE",
      "DUPLICATE_COMMAND",
      "INSUFFICIENT_FUNDS",
      "INTERNAL",
      "INVALID_ARGUMENT",
      "LIMIT_EXCEEDED",
      "LOG_FULL",
      "MALFORMED_BODY",
      "MALFORMED_REQUEST",
      "NOT_READY",
      "OVERLOADED",
      "PERMISSION_DENIED",
      "RATE_LIMITED",
      "SUBMISSION_EXPIRED",
      "SUBMISSION_UNKNOWN",
      "UNAUTHENTICATED",
      "UNSUPPORTED_MEDIA_TYPE",
      "USERS_LOST",
      "WALLET_NOT_FOUND",
    ]
  `)
  expect([...errorCodesOf(scanRoutes.livez)].sort()).toMatchInlineSnapshot(`
    [
      "INTERNAL",
      "MALFORMED_REQUEST",
    ]
  `)
})

it.each([
  [CERTIFIED_MEDIA_TYPE, true],
  [`text/html, ${CERTIFIED_MEDIA_TYPE.toUpperCase()} ; q=0.5`, true],
  [`application/json,${CERTIFIED_MEDIA_TYPE}`, true],
  [`${CERTIFIED_MEDIA_TYPE}; q=0`, false],
  [`${CERTIFIED_MEDIA_TYPE};q=0.000, */*`, false],
  [`${CERTIFIED_MEDIA_TYPE}x`, false],
  ['application/json', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
])('Accept %j asks for a proof: %j', (accept, isAsked) => {
  expect(accepts(accept, CERTIFIED_MEDIA_TYPE)).toBe(isAsked)
})
