import { concatBytes, fromHex, sha256, toHex, utf8 } from '@quorumscan/base'
import { testKeyPair } from '@quorumscan/testkit'
import { canonicalJson, encodeSubmissionStatement, type Json } from '@quorumscan/verifier'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeEntry, encodeEntry, entryKey } from './entry.ts'
import { ENTRY_BYTES_MAX } from './limits.ts'
import { submissionOf } from './testing/submissions.ts'

const GENESIS = 'ab'.repeat(32)
const keyPair = testKeyPair('alice')
const submission = submissionOf({
  genesis: GENESIS,
  participant: keyPair.publicKey,
  id: '01'.repeat(16),
  notAfter: 5,
  actAs: [`alice::1220${'cd'.repeat(32)}`],
  commands: [{ kind: 'create', template: 't', argument: { text: 'é😀' } }],
})

/** An entry around any body, with a valid signature. */
function entryAround(body: Uint8Array): Uint8Array {
  const message = encodeSubmissionStatement({ genesisHash: GENESIS, bodyHash: toHex(sha256(body)) })
  return concatBytes([Uint8Array.of(1), fromHex(keyPair.publicKey), keyPair.sign(message), body])
}

const json = (value: unknown) => canonicalJson(value as Json)
const reasonOf = (bytes: Uint8Array) => {
  const decoded = decodeEntry(bytes, GENESIS)
  return decoded.kind === 'ignored' ? decoded.reason : decoded.kind
}

it('an entry decodes to the signed submission, and its hash is that of its bytes', () => {
  const bytes = encodeEntry(submission, keyPair)
  expect(decodeEntry(bytes, GENESIS)).toEqual({
    kind: 'submission',
    submission,
    entryHash: toHex(sha256(bytes)),
  })
})

it('an entry without bytes is a checkpoint', () => {
  expect(decodeEntry(new Uint8Array(), GENESIS)).toEqual({ kind: 'checkpoint' })
})

it('the layout is format, key, signature, body', () => {
  const body = utf8(json(submission))
  expect(encodeEntry(submission, keyPair)).toEqual(entryAround(body))
})

it('an entry names its key, and bytes of another form name none', () => {
  const bytes = encodeEntry(submission, keyPair)
  expect(entryKey(bytes)).toBe(keyPair.publicKey)
  expect(entryKey(bytes.subarray(0, 97))).toBeNull()
  expect(entryKey(concatBytes([Uint8Array.of(2), bytes.subarray(1)]))).toBeNull()
})

it('a submission of another network, key or signature is ignored', () => {
  const bytes = encodeEntry(submission, keyPair)
  expect(decodeEntry(bytes, 'ac'.repeat(32))).toMatchObject({ reason: 'other network' })
  const other = bytes.slice()
  other.set(fromHex(testKeyPair('bob').publicKey), 1)
  expect(reasonOf(other)).toBe('malformed')
  const unsigned = bytes.slice()
  unsigned.fill(0, 33, 97)
  expect(reasonOf(unsigned)).toBe('bad signature')
})

const text = json(submission)
const deep = (depth: number): unknown => (depth === 0 ? 0 : [deep(depth - 1)])

it.each([
  ['white space', `${text} `],
  ['a doubled member', text.replace('"id":', '"id":"","id":')],
  ['members in another order', JSON.stringify(submission)],
  ['an escape that is not needed', text.replace('alice', '\\u0061lice')],
  ['a float', text.replace('"notAfter":5', '"notAfter":5.5')],
  ['an exponent', text.replace('"notAfter":5', '"notAfter":5e0')],
  ['minus zero', text.replace('"notAfter":5', '"notAfter":-0')],
  ['an unsafe integer', text.replace('"notAfter":5', '"notAfter":9007199254740993')],
  ['a lone surrogate', text.replace('é', '\\ud800')],
  ['a byte order mark', `\ufeff${text}`],
  ['__proto__', text.replace('{"text"', '{"__proto__":{},"text"')],
  ['an unknown member', json({ ...submission, x: 1 })],
  ['a missing member', text.replace(/"id":"[0-9]+",/, '')],
  [
    '33 levels',
    json({ ...submission, commands: [{ ...submission.commands[0], argument: deep(30) }] }),
  ],
  ['no commands', json({ ...submission, commands: [] })],
  ['no actAs', json({ ...submission, actAs: [] })],
  ['a party twice', json({ ...submission, actAs: [...submission.actAs, ...submission.actAs] })],
  ['no party', json({ ...submission, actAs: ['alice'] })],
  ['an empty command id', json({ ...submission, commandId: '' })],
  ['a negative period', json({ ...submission, deduplication: { kind: 'duration', micros: -1 } })],
  ['an unknown command', json({ ...submission, commands: [{ kind: 'exerciseByKey' }] })],
  [
    'allocation with actAs',
    json({ ...submission, commands: [{ kind: 'allocateParty', hint: 'x' }] }),
  ],
  ['no JSON', 'hello'],
  ['no object', '[]'],
])('a signed body with %s is malformed', (_what, body) => {
  expect(reasonOf(entryAround(utf8(body)))).toBe('malformed')
})

it('a body with 32 levels of nesting is accepted', () => {
  const commands = [{ kind: 'create', template: 't', argument: deep(29) }]
  expect(reasonOf(entryAround(utf8(json({ ...submission, commands }))))).toBe('submission')
})

it('invalid UTF-8 is malformed, a very deep body too', () => {
  const bytes = utf8(text)
  bytes[bytes.indexOf(0xc3)] = 0xff
  expect(reasonOf(entryAround(bytes))).toBe('malformed')
  expect(reasonOf(entryAround(utf8('['.repeat(200_000))))).toBe('malformed')
})

it('an entry has at most 256 KiB, for writer and reader', () => {
  const encode = (length: number) => {
    const commands = [{ kind: 'create', template: 't', argument: 'x'.repeat(length) } as const]
    return encodeEntry({ ...submission, commands }, keyPair)
  }
  const rest = ENTRY_BYTES_MAX - encode(0).byteLength
  for (const less of [1, 0]) {
    const bytes = encode(rest - less)
    expect(bytes.byteLength).toBe(ENTRY_BYTES_MAX - less)
    expect(reasonOf(bytes)).toBe('submission')
  }
  expect(() => encode(rest + 1)).toThrow(RangeError)
  expect(reasonOf(new Uint8Array(ENTRY_BYTES_MAX + 1))).toBe('too large')
})

it('encoding refuses submissions that no replica would accept', () => {
  expect(() => encodeEntry({ ...submission, userId: 'ä' }, keyPair)).toThrow(RangeError)
  expect(() => encodeEntry(submission, testKeyPair('bob'))).toThrow(RangeError)
})

it('keys of small order or with a second encoding are malformed', () => {
  const weak = [
    `01${'00'.repeat(31)}`,
    '00'.repeat(32),
    `ec${'ff'.repeat(30)}7f`,
    `ee${'ff'.repeat(30)}7f`,
    `ed${'ff'.repeat(30)}ff`,
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ]
  for (const key of weak) {
    const bytes = concatBytes([
      Uint8Array.of(1),
      fromHex(key),
      new Uint8Array(64),
      utf8(json({ ...submission, participant: key })),
    ])
    expect(reasonOf(bytes), key).toBe('malformed')
  }
})

it('no change of one byte is accepted, and decoding never throws', () => {
  const bytes = encodeEntry(submission, keyPair)
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (index, change) => {
      const changed = bytes.slice()
      changed[index] = (changed[index] ?? 0) ^ change
      expect(['malformed', 'bad signature', 'other network']).toContain(reasonOf(changed))
    }),
    { numRuns: 500 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => {
      expect(['malformed', 'checkpoint']).toContain(reasonOf(noise))
    }),
  )
})
