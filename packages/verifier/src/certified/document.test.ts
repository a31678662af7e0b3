/** @module-tag thorough */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeCertificate } from '../certificates/certificate.ts'
import type { CanonicalRequest } from '../statements/canonical-request.ts'
import { createCertifiedVerifier, encodeDocument, splitDocument } from './document.ts'
import { isBelowOffset, isStale } from './freshness.ts'
import type { CertifiedPage } from './lists.ts'
import type { RangeQuery } from './query.ts'
import { queryOf } from './query-of-request.ts'
import { createTestNetwork } from './testing/network.ts'
import {
  answerOf,
  createWorld,
  partyOfMember,
  proofOf,
  tokenOf,
  type World,
  type WorldEntry,
} from './testing/world.ts'

/** How many requests and walks a test tries, by its tags. */
const COUNTS = [
  { requestCount: 300, walkCount: 60, tags: ['many-cases'] },
  { requestCount: 1000, walkCount: 200, tags: ['long', 'properties'] },
] as const

const network = createTestNetwork(4)
const verifier = createCertifiedVerifier(network)
const MEMBER = partyOfMember(network, 1)
const PARTIES = ['alice', 'bob', MEMBER, network.genesis.dso]
const AT = { offset: 7, recordTime: 100 }

function documentOf(world: World, request: CanonicalRequest, signers = [0, 1, 2]): string {
  const stateQuery = queryOf(request, network) as RangeQuery<unknown>
  const proof = proofOf(world.leaves, stateQuery, world.point.recordTime)
  const certificate = encodeCertificate(network.certificateOf(world.point, signers))
  return encodeDocument(certificate, JSON.stringify(proof))
}

const verify = (document: string | Uint8Array, request: CanonicalRequest) =>
  verifier.verify(document, queryOf(request, network), 'strong')

/** Names that collide: prefixes, neighbors of synthetic names, not in UTF-16 order. */
const name = fc
  .tuple(
    fc.string({ unit: fc.constantFrom('a', 'b', '\u0001', 'é', '\uffff', '😀'), maxLength: 3 }),
    fc.constantFrom('', '.ns', 'dso.nt', 'sv-2.sv.nt', 'sv-2.sv.nr'),
  )
  .map((parts) => parts.join(''))
const oddText = fc.constantFrom(
  'a\0',
  '\0',
  'a\ud800',
  '\udc00',
  'dso.ns',
  'sv-2.sv.ns',
  'sv-9.sv.ns',
)
const askedName = fc.oneof({ weight: 4, arbitrary: name }, { weight: 1, arbitrary: oddText })
const askedParty = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PARTIES, 'eve', 'ali') },
  { weight: 1, arbitrary: oddText },
)

const worlds = fc
  .array(
    fc.record({
      name,
      user: fc.constantFrom(...PARTIES),
      expiresAt: fc.constantFrom(50, 100, 101, 200),
    }),
    { maxLength: 16 },
  )
  .map((entries) => {
    const kept = new Map<string, WorldEntry>()
    // One visible entry of a name; any number that have expired.
    for (const entry of entries)
      kept.set(`${entry.name}\0${entry.expiresAt > 100 ? '' : entry.expiresAt + entry.user}`, entry)
    return createWorld(network, [...kept.values()], AT)
  })

const lookup = fc.oneof(
  askedName.map((text) => ({ name: text })),
  askedParty.map((text) => ({ party: text })),
)
const pageSize = fc.constantFrom(1, 2, 3, 1000)
const requests: fc.Arbitrary<CanonicalRequest> = fc.oneof(
  askedName.map((text) => ({ operation: 'getEntryByName', parameters: { name: text } })),
  askedParty.map((text) => ({ operation: 'getEntryByParty', parameters: { party: text } })),
  fc
    .array(lookup, { maxLength: 5 })
    .map((lookups) => ({ operation: 'lookupEntries', parameters: { lookups } })),
  fc.tuple(askedName, pageSize).map(([text, size]) => ({
    operation: 'listEntries',
    parameters: { name_prefix: text, page_size: size, page_token: null },
  })),
  fc.tuple(askedParty, pageSize).map(([text, size]) => ({
    operation: 'listEntriesByParty',
    parameters: { party: text, page_size: size, page_token: null },
  })),
  fc.constantFrom(
    { operation: 'getDso', parameters: { shared: true } },
    {
      operation: 'getAnsRules',
      parameters: { cached_ans_rules_contract_id: null, cached_ans_rules_domain_id: null },
    },
    { operation: 'listScans', parameters: {} },
  ),
)

describe('a document', () => {
  for (const { requestCount, walkCount, tags } of COUNTS) {
    it(`proves the answer that follows from the entries, for ${requestCount} requests`, {
      tags: [...tags],
    }, async () => {
      await fc.assert(
        fc.asyncProperty(worlds, requests, async (world, request) => {
          const verified = await verify(documentOf(world, request), request)
          const { offset, recordTime, historyHash } = world.point
          expect(verified).toEqual({
            answer: answerOf(world, request, network.genesisHash),
            offset,
            recordTime,
            historyHash,
            signers: ['sv-1', 'sv-2', 'sv-3'],
          })
        }),
        { numRuns: requestCount },
      )
    })

    it(`of the pages of a walk proves the whole list, each entry once, for ${walkCount} walks`, {
      tags: [...tags],
    }, async () => {
      await fc.assert(
        fc.asyncProperty(
          worlds,
          askedName,
          pageSize,
          fc.boolean(),
          async (world, text, size, byParty) => {
            const [operation, subject] = byParty
              ? ['listEntriesByParty', { party: PARTIES[text.length % 4] as string }]
              : ['listEntries', { name_prefix: text }]
            const ask = (page_size: number, page_token: string | null) => {
              const request = { operation, parameters: { ...subject, page_size, page_token } }
              return { request, document: documentOf(world, request) }
            }
            const walked = []
            let token: string | null = null
            do {
              const { request, document }: ReturnType<typeof ask> = ask(size, token)
              const { answer } = await verify(document, request)
              expect(answer).toEqual(answerOf(world, request, network.genesisHash))
              walked.push(...(answer as CertifiedPage).entries)
              token = (answer as CertifiedPage).next_page_token
            } while (token !== null)
            const whole = ask(1000, null)
            expect(walked).toEqual(
              ((await verify(whole.document, whole.request)).answer as CertifiedPage).entries,
            )
          },
        ),
        { numRuns: walkCount },
      )
    })
  }

  it('is bytes or text', async () => {
    const request = { operation: 'getEntryByName', parameters: { name: 'dso.ns' } }
    const text = documentOf(createWorld(network, [], AT), request)
    expect(await verify(Buffer.from(text), request)).toEqual(await verify(text, request))
    for (const bytes of [Buffer.from([...Buffer.from(text), 255]), Buffer.from(`\ufeff${text}`)])
      await expect(verify(bytes, request)).rejects.toMatchObject({ code: 'MALFORMED' })
    for (const other of ['', '{}', `${text} `, ` ${text}`, text.replace('}', '},"more":1')])
      await expect(verify(other, request)).rejects.toMatchObject({ code: 'MALFORMED' })
    expect(encodeDocument(...partsOf(text))).toBe(text)
  })

  it('needs as many signers as the reader demands', async () => {
    const request = { operation: 'getEntryByName', parameters: { name: 'dso.ns' } }
    const stateQuery = queryOf(request, network)
    const document = documentOf(createWorld(network, [], AT), request, [1, 3])
    expect((await verifier.verify(document, stateQuery, 'weak')).signers).toEqual(['sv-2', 'sv-4'])
    for (const threshold of ['strong', 'all', 3, 4] as const)
      await expect(verifier.verify(document, stateQuery, threshold)).rejects.toMatchObject({
        code: 'TOO_FEW_SIGNERS',
      })
    for (const threshold of [0, 1, 5, 2.5, Number.NaN])
      await expect(verifier.verify(document, stateQuery, threshold)).rejects.toThrow(RangeError)
  })

  it('returns a list of signers that its caller may change', async () => {
    const request = { operation: 'getEntryByName', parameters: { name: 'dso.ns' } }
    const document = documentOf(createWorld(network, [], AT), request, [0, 1])
    const { signers } = await verifier.verify(document, queryOf(request, network), 'weak')
    ;(signers as string[]).push('sv-3')
    await expect(verify(document, request)).rejects.toMatchObject({ code: 'TOO_FEW_SIGNERS' })
  })
})

describe('a request', () => {
  it('is of a kind that the state can answer, with its parameters and no others', () => {
    for (const [operation, parameters] of [
      ['getGenesis', {}],
      ['toString', {}],
      ['getDso', { shared: false }],
      ['getAnsRules', { cached_ans_rules_contract_id: '00', cached_ans_rules_domain_id: null }],
      ['getEntryByName', {}],
      ['getEntryByName', { name: 7 }],
      ['getEntryByName', { name: 'a', party: 'b' }],
      ['lookupEntries', { lookups: [{ name: 'a', party: 'b' }] }],
      ['lookupEntries', { lookups: [null] }],
      ['lookupEntries', { lookups: 'a' }],
      ['listEntries', { name_prefix: '', page_size: 0, page_token: null }],
      ['listEntries', { name_prefix: '', page_size: 1.5, page_token: null }],
      ['listEntries', { name_prefix: '', page_size: '1', page_token: null }],
      ['listEntries', { name_prefix: '', page_size: 1 }],
      ['listEntries', { name_prefix: '', page_size: 1, page_token: 'x' }],
    ] as const)
      expect(() => queryOf({ operation, parameters }, network), operation).toThrow(RangeError)
  })

  it('for a page accepts only a token of its own list and network', () => {
    const token = tokenOf(network.genesisHash, 'prefix\0al', 7, 'alice')
    const ask =
      (prefix: string, pageToken: string, of = network) =>
      () =>
        queryOf(
          {
            operation: 'listEntries',
            parameters: { name_prefix: prefix, page_size: 1, page_token: pageToken },
          },
          of,
        )
    expect(ask('al', token)().offset).toBe(7)
    expect(ask('ali', token)).toThrow(RangeError)
    expect(ask('al', `${token}=`)).toThrow(RangeError)
    expect(ask('al', token, { ...network, genesisHash: '00'.repeat(32) })).toThrow(RangeError)
  })
})

it('an answer is stale for an unknown maxAge, and too low for an unknown floor', () => {
  const freshness = { nowMicros: 5_000_000, maxAgeMs: 3_000 }
  expect(isStale(2_000_000, freshness)).toBe(false)
  expect(isStale(1_999_999, freshness)).toBe(true)
  expect(isStale(9_000_000, freshness)).toBe(false)
  expect(isStale(2_000_000, { ...freshness, maxAgeMs: Number.NaN })).toBe(true)
  expect(isBelowOffset(7, 7)).toBe(false)
  expect(isBelowOffset(6, 7)).toBe(true)
  expect(isBelowOffset(6, Number.NaN)).toBe(true)
})

function partsOf(document: string) {
  const { certificate, proof } = splitDocument(document)
  return [certificate, proof] as const
}
