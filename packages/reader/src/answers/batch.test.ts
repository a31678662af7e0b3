import { bytesEqual, utf8 } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLookup } from '../reader-base.ts'
import { batchRequest, cutBatchAnswer, isAbsence, isEntryAnswer } from './batch.ts'
import { decodeText } from './reply.ts'

const RECORD_TIME = 1_700_000_000_000_000
const party = `alice::1220${'a'.repeat(64)}`

const nasty = fc.string({
  unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', 'é', '\u2028', '😀', 'a', ' '),
})

const entry = fc.record({
  contract_id: fc.option(fc.constant('00ab')),
  user: fc.constant(party),
  name: nasty,
  url: nasty,
  description: nasty,
  expires_at: fc.option(fc.constant('2099-01-01T00:00:00.000000Z')),
})

describe('a batch request', () => {
  it.each([
    [null, '{"lookups":[{"party":"p"}]}'],
    [7, '{"lookups":[{"party":"p"}],"at_offset":7}'],
  ])('is posted as text, which needs no preflight, with the offset %s', (atOffset, text) => {
    const { body, ...request } = batchRequest([{ party: 'p' }], atOffset)
    expect(request).toMatchObject({
      method: 'POST',
      path: '/v0/ans-entries/batch',
      headers: { 'content-type': 'text/plain' },
    })
    expect(decodeText(body ?? new Uint8Array())).toBe(text)
  })
})

describe('a batch answer', () => {
  it('is cut into exactly the bytes of its answers, for any texts', () => {
    fc.assert(
      fc.property(fc.array(fc.option(entry), { minLength: 1, maxLength: 8 }), (entries) => {
        const parts = entries.map((one) => JSON.stringify({ entry: one }))
        const answers = cutBatchAnswer(`{"results":[${parts}]}`, parts.length) ?? []
        expect(answers.map(decodeText)).toEqual(parts)
        expect(answers.map(isAbsence)).toEqual(entries.map((one) => one === null))
        for (const [index, one] of entries.entries()) {
          const lookup = one === null ? { party } : { name: one.name }
          const answer = answers[index] as Uint8Array<ArrayBuffer>
          expect(isEntryAnswer(answer, lookup, RECORD_TIME)).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('that differs in one byte is another answer, or invalid', () => {
    const text = JSON.stringify({
      results: [
        {
          entry: {
            contract_id: null,
            user: party,
            name: 'a"b',
            url: '',
            description: '}',
            expires_at: null,
          },
        },
      ],
    })
    const [answer] = cutBatchAnswer(text, 1) ?? []
    for (let position = 0; position < text.length; position++)
      for (const byte of [0x20, 0x22, 0x2c, 0x5b, 0x7d, 0xff]) {
        const body = utf8(text)
        if (body[position] === byte) continue
        body[position] = byte
        const [other] = cutBatchAnswer(decodeText(body), 1) ?? []
        expect(other !== undefined && answer !== undefined && bytesEqual(other, answer)).toBe(false)
      }
  })
})

it.each([
  ['brackets without end', `{"results":[${'[],'.repeat(100_000)}`],
  ['brackets in each other', `{"results":${'['.repeat(100_000)}`],
  ['an entry in an entry', '{"results":[{"entry":{"a":{"entry":null}}}]}'],
  ['an answer more', '{"results":[{"entry":null},{"entry":null}]}'],
  ['a byte order mark', '\uFEFF{"results":[{"entry":null}]}'],
  ['white space', '{"results":[{"entry": null}]}'],
  ['white space at the end', '{"results":[{"entry":null}]}\n'],
  ['a member twice', '{"results":[{"entry":1,"entry":null}]}'],
  ['another member', '{"results":[{"entry":null}],"more":1}'],
  ['another member of an answer', '{"results":[{"entry":null,"more":1}]}'],
  ['an escape that need not be', '{"results":[{"\\u0065ntry":null}]}'],
])('refuses a batch answer with %s', (_, text) => {
  expect(cutBatchAnswer('{"results":[{"entry":null}]}', 1)).toHaveLength(1)
  expect(cutBatchAnswer(decodeText(utf8(text)), 1)).toBeUndefined()
})

it('refuses an answer with a member of another type', () => {
  const good = {
    contract_id: '00ab',
    user: party,
    name: 'alice',
    url: '',
    description: '',
    expires_at: '2099-01-01T00:00:00.000000Z',
  }
  const isTaken = (entry: object) => {
    const text = JSON.stringify({ entry })
    // Whatever would be cut out of a batch in its place.
    const cut = cutBatchAnswer(`{"results":[${text}]}`, 1)
    return cut !== undefined || isEntryAnswer(utf8(text), { party }, RECORD_TIME)
  }
  expect(isTaken(good)).toBe(true)
  expect(isTaken({ ...good, contract_id: null, expires_at: null })).toBe(true)
  for (const member of Object.keys(good))
    for (const value of [1, true, [], {}]) expect(isTaken({ ...good, [member]: value })).toBe(false)
})

describe('a lookup', () => {
  it('is valid if every node accepts it', () => {
    expect(isLookup({ name: 'anything / at all' })).toBe(true)
    expect(isLookup({ name: '' })).toBe(true)
    expect(isLookup({ name: 'x'.repeat(256) })).toBe(false)
    expect(isLookup({ name: 'a\uD800' })).toBe(false)
    expect(isLookup({ party })).toBe(true)
    for (const text of [
      '',
      'alice',
      `${party}0`,
      party.toUpperCase(),
      `a b::1220${'a'.repeat(64)}`,
    ])
      expect(isLookup({ party: text }), text).toBe(false)
  })
})
