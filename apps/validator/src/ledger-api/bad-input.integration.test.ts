/**
 * Bad input to the ledger interface gets the specified error, changes nothing and delays no other caller.
 *
 * @module-tag rest
 */

import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { createDevelopmentToken } from '@quorumscan/auth'
import { createKeyPair, fromHex } from '@quorumscan/base'
import { DEFAULT_AUDIENCE } from '@quorumscan/model'
import { cases, createHttpClient, type HttpAnswer } from '@quorumscan/testkit'
import type { FixturesOf } from '@quorumscan/testkit/fixtures'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { balanceOf } from '../testing/test-validator.ts'
import { itInWorld } from '../testing/world-fixtures.ts'

const UPDATES = '/v2/updates'
const SUBMIT = '/v2/commands/async/submit'
const COMPLETIONS = '/v2/commands/completions'
const ACTIVE = '/v2/state/active-contracts'

const it = itInWorld
  .extend('alice', { scope: 'file' }, ({ world }) => world.registered('alice'))
  .extend('bob', { scope: 'file' }, ({ world }) => world.registered('bob', null))
  .extend('client', { scope: 'file' }, ({ alice }) => alice.client)
  /** A user that may read as any party. */
  .extend('reader', { scope: 'file' }, async ({ admin, world }) => {
    const rights = [{ kind: { CanReadAsAnyParty: { value: {} } } }]
    expect(await admin.post('/v2/users', { user: { id: 'reader' }, rights })).toAnswer(200)
    return await world.clientOf('reader')
  })
  .extend(
    'own',
    ({ alice }) =>
      () =>
        format({ [alice.party]: {} }),
  )
  .extend(
    'tap',
    ({ contracts, alice }) =>
      (more: object = {}) =>
        contracts.tapRequest(alice.party, more),
  )
  .extend('signed', ({ world }) => async (more: object) => {
    const { tokens } = world.network.config
    if (tokens.kind !== 'shared-secret') throw new Error('the test network shares a secret')
    const secret = fromHex((await readFile(tokens.secretFile, 'utf8')).trim())
    const input = { secret, user: 'alice', ttlSeconds: 60, audience: DEFAULT_AUDIENCE }
    return await createDevelopmentToken({ ...input, clock: world.network.clock, ...more })
  })
type Given = Pick<FixturesOf<typeof it>, 'tap' | 'bob'>

const format = (filtersByParty: object) => ({
  includeTransactions: {
    eventFormat: { filtersByParty },
    transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
  },
})

/** `status code`, or `status text` if the request did not decode. */
function outcome({ status, type, body }: HttpAnswer): string {
  return type === 'text/plain' ? `${status} text` : `${status} ${body.code ?? ''}`.trim()
}

describe('input that does not decode', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  it.for<[string, () => unknown]>([
    ['malformed JSON', () => '{"beginExclusive":'],
    ['no UTF-8', () => `{"beginExclusive":0,"x":"\ud800"`],
    ['a number beyond all bounds', () => '{"beginExclusive":1e400}'],
    ['an integer beyond 64 bits', () => `{"beginExclusive":"${2n ** 64n}"}`],
    ['a fraction', () => ({ beginExclusive: 0.5 })],
    ['100 000 brackets', () => nested(100_000)],
    ['brackets where a member is', () => `{"beginExclusive":${nested(50_000)}}`],
    [
      'a template id with only two parts',
      () => ({
        beginExclusive: 0,
        updateFormat: format({
          a: {
            cumulative: [
              { identifierFilter: { TemplateFilter: { value: { templateId: 'a:b' } } } },
            ],
          },
        }),
      }),
    ],
    [
      'a filter of two kinds at once',
      () => ({
        beginExclusive: 0,
        updateFormat: format({
          a: { cumulative: [{ identifierFilter: { Empty: {}, WildcardFilter: { value: {} } } }] },
        }),
      }),
    ],
  ])('%s is answered with one line of text', async ([_, body], { client }) => {
    const answer = await client.post(UPDATES, body())
    expect(outcome(answer)).toBe('400 text')
    expect(answer.body).not.toContain('\n')
    expect(answer.body.length).toBeLessThan(1_000)
  })

  it('a blob that is not Base64 is answered with its member name', async ({ client, tap }) => {
    const disclosedContracts = [{ createdEventBlob: 'a-b_' }]
    const answer = await client.post(SUBMIT, tap({ disclosedContracts }))
    expect(outcome(answer)).toBe('400 text')
    expect(answer.body).toContain('createdEventBlob')
  })
})

describe('input that is too large', () => {
  const huge = 'x'.repeat(1_000_000)
  it.for([
    ['a command id', ({ tap }: Given) => tap({ commandId: huge }), '400 INVALID_FIELD'],
    ['a user id', ({ tap }: Given) => tap({ userId: huge }), '403 NA'],
    ['a party', ({ tap }: Given) => tap({ actAs: [huge] }), '400 INVALID_ARGUMENT'],
    ['a workflow id', ({ tap }: Given) => tap({ workflowId: huge }), '400 INVALID_ARGUMENT'],
    ['a synchronizer', ({ tap }: Given) => tap({ synchronizerId: huge }), '400 INVALID_FIELD'],
    [
      '30 000 parties',
      ({ tap, bob }: Given) => tap({ readAs: Array(30_000).fill(bob.party) }),
      '403 NA',
    ],
    [
      '201 commands',
      ({ tap }: Given) => tap({ commands: Array(201).fill(tap().commands[0]) }),
      '400 INVALID_ARGUMENT',
    ],
  ] as const)('a submission is refused for %s', async ([_, body, want], { client, tap, bob }) => {
    const answer = await client.post(SUBMIT, body({ tap, bob }))
    expect(outcome(answer)).toBe(want)
    expect(answer.body.cause.length).toBeLessThanOrEqual(512)
  })

  it.for([
    ['nested deeply', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['very long', JSON.stringify(huge)],
  ] as const)('a command argument that is %s', async ([_, amount], { tap, client }) => {
    const text = JSON.stringify(tap()).replace('"1"', amount)
    expect(outcome(await client.post(SUBMIT, text))).toMatch(/^400 /)
  })

  it('a filter of 10 000 parties is accepted, and delays no other call', async ({
    alice,
    reader,
    client,
  }) => {
    const many = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`p${index}::1220${'0'.repeat(64)}`, {}]),
    )
    const body = { beginExclusive: 0, updateFormat: format({ ...many, [alice.party]: {} }) }
    const [all, end] = await Promise.all([
      reader.post(`${UPDATES}?stream_idle_timeout_ms=100`, body),
      client.get('/v2/state/ledger-end'),
    ])
    expect(end).toAnswer(200)
    expect(all.body.length).toBeGreaterThan(0)
  })
})

describe('rules that only a user with readAs any party can break (§L3.1, §L1.5)', () => {
  const range = { beginExclusive: 2, endInclusive: 1 }
  it.for([
    ['9 a filter by an invalid party', format({ 'a/b': {} }), '400 INVALID_ARGUMENT'],
    [
      '9 topology of an invalid party',
      { includeTopologyEvents: { includeParticipantAuthorizationEvents: { parties: ['a/b'] } } },
      '400 INVALID_FIELD',
    ],
    ['9 reassignments without a party', { includeReassignments: {} }, '400 INVALID_ARGUMENT'],
    [
      '10 reassignments of an unknown template',
      {
        includeReassignments: {
          filtersForAnyParty: {
            cumulative: [
              { identifierFilter: { TemplateFilter: { value: { templateId: '#no:B:C' } } } },
            ],
          },
        },
      },
      '404 PACKAGE_NAMES_NOT_FOUND',
    ],
    ['12 an empty update format', {}, '400 OFFSET_OUT_OF_RANGE'],
  ] as const)('%s', async ([_, updateFormat, want], { reader }) => {
    expect(outcome(await reader.post(UPDATES, { ...range, updateFormat }))).toBe(want)
  })

  it('refuses malformed parties in readAs, and too many of them', async ({ world, alice, tap }) => {
    const admin = await world.clientOf('participant_admin')
    const rights = [
      { kind: { CanActAs: { value: { party: alice.party } } } },
      { kind: { CanReadAsAnyParty: { value: {} } } },
    ]
    await admin.post('/v2/users', { user: { id: 'actor' }, rights })
    const actor = await world.clientOf('actor')
    expect(outcome(await actor.post(SUBMIT, tap({ readAs: ['a/b'] })))).toBe('400 INVALID_ARGUMENT')
    // With the party in actAs these are 200 parties, which is allowed, and then 201.
    const others = Array.from({ length: 200 }, (_, index) => `p${index}::1220${'0'.repeat(64)}`)
    const submit = (readAs: readonly string[]) => actor.post(SUBMIT, tap({ readAs }))
    expect(await submit(others.slice(1))).toAnswer(404)
    expect((await submit(others)).body.cause).toContain('at most 200 parties')
  })
})

describe('tokens', () => {
  it.for([
    ['one that is valid', {}, 200],
    ['an expired one', { ttlSeconds: -10 }, 401],
    ['one for another audience', { audience: 'https://elsewhere.example' }, 401],
    ['a foreign one', { secret: fromHex(createKeyPair().seed) }, 401],
    ['one with an invalid user id', { user: 'a b' }, 401],
  ] as const)('%s', async ([_, more, status], { world, signed }) => {
    const caller = createHttpClient(world.url, await signed(more))
    const answer = await caller.get('/v2/state/ledger-end')
    expect(answer).toAnswer(status)
    if (status === 401) expect(answer.body).toMatchObject({ code: 'NA', grpcCodeValue: 16 })
  })
})

describe('any value at any place of a request', () => {
  it('has a status below 500 and no effect', {
    tags: ['ledger-interface'],
  }, async ({ bob, own, alice, tap, client }) => {
    const before = await balanceOf(bob.client)
    const requests: readonly (readonly [string, () => unknown])[] = [
      [
        `${UPDATES}?stream_idle_timeout_ms=1`,
        () => ({ beginExclusive: 0, endInclusive: 1, updateFormat: own(), descendingOrder: false }),
      ],
      [
        `${UPDATES}/trees`,
        () => ({
          beginExclusive: 0,
          endInclusive: 1,
          filter: { filtersByParty: { [alice.party]: {} } },
        }),
      ],
      [ACTIVE, () => ({ activeAtOffset: 1, filter: { filtersByParty: { [alice.party]: {} } } })],
      [
        `${COMPLETIONS}?stream_idle_timeout_ms=1`,
        () => ({ parties: [alice.party], userId: 'alice' }),
      ],
      [
        SUBMIT,
        () =>
          tap({
            actAs: [alice.party],
            readAs: [],
            deduplicationPeriod: { DeduplicationDuration: { value: { seconds: 1, nanos: 0 } } },
            minLedgerTimeRel: { seconds: 0, nanos: 0 },
          }),
      ],
    ]
    // Each request reaches its handler; without an answer `post` rejects.
    for (const [path, body] of requests) expect(await client.post(path, body()), path).toAnswer(200)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...requests),
        fc.infiniteStream(fc.nat()),
        fc.oneof(fc.jsonValue(), fc.constantFrom(null, -1, 1e300, '', '::', [], {}, [[]])),
        async ([path, body], choices, value) => {
          const next = (): number => Number(choices.next().value)
          const { status } = await client.post(path, mutated(body(), next, value))
          expect(status).toBeLessThan(500)
        },
      ),
      { numRuns: cases(150, 2_000) },
    )
    expect(await balanceOf(bob.client)).toEqual(before)
  })
})

/** The value with another one at a place that the numbers choose. */
function mutated(value: unknown, next: () => number, replacement: unknown): unknown {
  if (typeof value !== 'object' || value === null || next() % 4 === 0) return replacement
  const keys = Object.keys(value)
  const key = keys[next() % Math.max(keys.length, 1)]
  if (key === undefined) return replacement
  const changed = mutated((value as Record<string, unknown>)[key], next, replacement)
  return Array.isArray(value)
    ? value.map((item, index) => (String(index) === key ? changed : item))
    : { ...value, [key]: changed }
}

it('a slow sender delays no other caller', async ({ world, client, tap }) => {
  const { port, hostname } = new URL(world.url())
  const slow = Array.from({ length: 20 }, () => connect(Number(port), hostname))
  for (const socket of slow)
    socket.write(`POST ${UPDATES} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{`)
  expect(await client.post('/v2/commands/submit-and-wait', tap())).toAnswer(200)
  for (const socket of slow) socket.destroy()
})
