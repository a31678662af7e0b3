/** Vectors to refuse: invalid requests, certificates and texts. */
import { type KeyPair, sha256, toHex } from '@quorumscan/base'
import type { CanonicalRequest, Json } from '@quorumscan/verifier'
import {
  encodeCertificate,
  encodeDocument,
  type MemberSignature,
} from '@quorumscan/verifier/certified'
import type { Refused, Rule } from '../support/vector.ts'
import { genesisHash, keyPairs } from './build.ts'
import { ESCAPES, ODD_NAME } from './certified-proven.ts'
import { oddSignatures } from './odd-signatures.ts'
import {
  ALICE,
  BOB,
  byName,
  CERTIFICATE,
  certificateOf,
  DSO,
  documentOf,
  LATER,
  LEAVES,
  leafOf,
  OFFSET,
  page,
  pageOfToken,
  SCANS,
  state,
  statementOf,
  stateOf,
  T,
} from './state.ts'

const REQUEST = byName('alice.unverified.ns')
const PROOF = state.prove(REQUEST)
const DOCUMENT = encodeDocument(CERTIFICATE, PROOF)

/** Invalid requests, with an honest document. */
export function* refusedRequests(): Generator<Refused> {
  yield {
    rule: 'request.signers',
    name: 'fewer signers than f + 1',
    signers: 1,
    document: encodeDocument(certificateOf(state.point, [0]), PROOF),
  }
  yield {
    rule: 'request.signers',
    name: 'no signers',
    signers: 0,
    document: encodeDocument(certificateOf(state.point, []), PROOF),
  }
  yield {
    rule: 'request.signers',
    name: 'fewer signers than f + 1, though enough signed',
    signers: 1,
    document: DOCUMENT,
  }
  yield {
    rule: 'request.signers',
    name: 'a number of signers with a fraction',
    signers: 2.5,
    document: encodeDocument(certificateOf(state.point, [0, 1, 2]), PROOF),
  }
  yield {
    rule: 'request.signers',
    name: 'more signers than members',
    signers: 5,
    document: encodeDocument(certificateOf(state.point, [0, 1, 2, 3]), PROOF),
  }
  const activities = (change: { [name: string]: Json }) => ({
    operation: 'listActivities',
    parameters: { page_size: 2, begin_after_id: null, sort_order: 'asc', ...change },
  })
  const requests: readonly (readonly [string, CanonicalRequest])[] = [
    ['an operation that has no certified answer', { operation: 'getOpenRounds', parameters: {} }],
    ['a parameter more', { operation: 'getEntryByName', parameters: { name: 'a', party: 'b' } }],
    [
      'a parameter too few',
      { operation: 'listEntries', parameters: { name_prefix: '', page_size: 1 } },
    ],
    ['a name that is no text', { operation: 'getEntryByName', parameters: { name: 1 } }],
    ['a party that is no text', { operation: 'getEntryByParty', parameters: { party: null } }],
    ['a prefix that is no text', pageOfToken(2, null, 1 as never)],
    ['a page token that is a number', pageOfToken(2, 1 as never, '')],
    ['a page of no entries', pageOfToken(0, null, '')],
    ['a page size below zero', pageOfToken(-1, null, '')],
    ['a page size that is a text', pageOfToken('2', null, '')],
    ['a page size with a fraction', pageOfToken(1.5, null, '')],
    ['a page of no activities', activities({ page_size: 0 })],
    ['a page of activities with a size that is a text', activities({ page_size: '2' })],
    ['a page of activities with a size with a fraction', activities({ page_size: 2.5 })],
    [
      'a page of activities before half an event id',
      activities({ begin_after_id: '0000000000000001' }),
    ],
    ['an event id that is no text', activities({ begin_after_id: 1 })],
    ['an order of activities that does not exist', activities({ sort_order: 'newest' })],
    [
      'the rules of the network as one node has them',
      { operation: 'getDso', parameters: { shared: false } },
    ],
    [
      'other rules of names in place of the known ones',
      {
        operation: 'getAnsRules',
        parameters: { cached_ans_rules_contract_id: '00', cached_ans_rules_domain_id: null },
      },
    ],
    ['lookups that are no list', { operation: 'lookupEntries', parameters: { lookups: {} } }],
    [
      'a lookup by name and party',
      { operation: 'lookupEntries', parameters: { lookups: [{ name: 'a', party: 'b' }] } },
    ],
    ['a lookup that is a text', { operation: 'lookupEntries', parameters: { lookups: ['a'] } }],
    [
      'a lookup by a number',
      { operation: 'lookupEntries', parameters: { lookups: [{ name: 1 }] } },
    ],
  ]
  for (const [name, request] of requests)
    yield { rule: 'request.parameters', name, request, document: DOCUMENT }
  yield* refusedTokens()
}

/** Invalid tokens, with the document that proves the page at the position in the token. */
function* refusedTokens(): Generator<Refused> {
  const content = (after: Uint8Array, offset = BigInt(OFFSET)) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64BE(offset)
    return Buffer.concat([bytes, after])
  }
  /** A page token of arbitrary bytes. */
  const tokenOf = (bytes: Uint8Array, list = 'prefix\0', hash = genesisHash) => {
    const listed = sha256(Buffer.from(list))
    const network = Buffer.from(hash, 'hex')
    const checksum = sha256(Buffer.from('quorumscan/page/1\0'), network, listed, bytes)
    return Buffer.concat([bytes, checksum.subarray(0, 16)]).toString('base64url')
  }
  const AFTER = 'alicf.unverified.ns'
  const good = tokenOf(content(Buffer.from(AFTER)))
  if (good !== page(2, AFTER, '').parameters['page_token'])
    throw new Error('tokens are of this form')
  const bytes = Buffer.from(good, 'base64url')
  const changed = (index: number) => bytes.with(index, (bytes.at(index) as number) ^ 1)
  const encoded = (data: Uint8Array) => Buffer.from(data).toString('base64url')
  const last = good.charCodeAt(good.length - 1)
  // A name whose token contains both characters in which base64url differs from base64.
  const both = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n'].find((name) =>
    /-.*_|_.*-/.test(tokenOf(content(Buffer.from(name)))),
  ) as string
  const ofBoth = tokenOf(content(Buffer.from(both)))
  const name = (text: string) => content(Buffer.from(text))
  const tokens: readonly (readonly [what: string, token: string, after?: string])[] = [
    ['with another checksum', encoded(changed(-1))],
    ['with another offset', encoded(changed(7))],
    ['with padding', `${good}=`],
    ['with white space', `${good}\n`],
    ['with another character', `${good}.`],
    ['with bits after its end', good.slice(0, -1) + String.fromCharCode(last + 1)],
    ['in base64', ofBoth.replaceAll('-', '+').replaceAll('_', '/'), both],
    ['that is empty', ''],
    ['that is too short', encoded(bytes.subarray(0, 23))],
    ['of another network', tokenOf(name(AFTER), 'prefix\0', 'ab'.repeat(32))],
    ['of another prefix', tokenOf(name(AFTER), 'prefix\0a')],
    ['of a party for a prefix', tokenOf(name(AFTER), 'party\0')],
    ['with an offset of 2^53', tokenOf(content(Buffer.from(AFTER), 2n ** 53n))],
    ['after a name that is no UTF-8', tokenOf(content(Uint8Array.of(0x61, 0xff))), 'a\ufffd'],
  ]
  for (const [what, token, after = AFTER] of tokens)
    yield {
      rule: 'request.page_token',
      name: `a page token ${what}`,
      request: pageOfToken(2, token, ''),
      document: documentOf(state, state.prove(page(2, after, ''))),
    }
  const proofAfter = (after: string, end: string) =>
    state.proveRanges([{ from: Buffer.from(`n\0${after}\x01`), to: Buffer.from(end), limit: 3 }])
  const others: readonly (readonly [string, CanonicalRequest, string])[] = [
    [
      'of another party',
      pageOfToken(2, tokenOf(name('bob'), `party\0${ALICE}`), BOB, true),
      state.prove(page(2, 'bob', BOB, true)),
    ],
    [
      'after a name without the prefix',
      pageOfToken(2, tokenOf(name(AFTER), 'prefix\0b'), 'b'),
      proofAfter(AFTER, 'n\0c'),
    ],
    [
      'after a name with U+0000',
      pageOfToken(2, tokenOf(name(`${AFTER}\0`)), ''),
      proofAfter(`${AFTER}\0`, 'n\x01'),
    ],
    ['of a party with U+0000', pageOfToken(2, tokenOf(name('a'), 'party\0x\0'), 'x\0', true), '[]'],
    [
      'of a party with half of a surrogate pair',
      pageOfToken(2, tokenOf(name('a'), 'party\0x\ufffd'), 'x\ud83d', true),
      '[]',
    ],
  ]
  for (const [what, invalidRequest, proof] of others)
    yield {
      rule: 'request.page_token',
      name: `a page token ${what}`,
      request: invalidRequest,
      document: documentOf(state, proof),
    }
  const next = page(2, AFTER, '')
  const later = stateOf(LEAVES, 43)
  yield {
    rule: 'walk.offset',
    name: 'a next page at another offset than the first',
    request: next,
    document: documentOf(later, later.prove(next)),
  }
}

/** Certificates to refuse. Two signers are needed. */
export function* refusedCertificates(): Generator<Refused> {
  const signed = JSON.parse(CERTIFICATE).signatures as [string, string][]
  const signedBy = (...signatures: unknown[]) =>
    DOCUMENT.replace(JSON.stringify(signed), JSON.stringify(signatures))
  const [first, second] = signed as [[string, string], [string, string]]
  const refused = (rule: Rule, name: string, document: string): Refused => ({
    rule,
    name,
    document,
  })
  yield refused('certificate.signers', 'no signatures', signedBy())
  yield refused('certificate.signers', 'one signature where two are needed', signedBy(first))
  yield {
    ...refused('certificate.signers', 'two signatures where three are needed', DOCUMENT),
    signers: 3,
  }
  yield refused('certificate.signer', 'a member that signed twice', signedBy(first, first))
  yield refused(
    'certificate.signer',
    'signers that are not in the order of the genesis',
    signedBy(second, first),
  )
  yield refused(
    'certificate.signature',
    'the signature of another member',
    signedBy(first, ['sv-3', second[1]]),
  )
  yield refused(
    'certificate.signature',
    'a signature that does not fit, though enough others do',
    signedBy(first, second, ['sv-3', second[1]]),
  )
  yield refused(
    'certificate.signer',
    'a signer that is no member, though enough others are',
    signedBy(first, second, ['sv-9', second[1]]),
  )
  for (const [what, pair] of [
    ['in capitals', [second[0], second[1].toUpperCase()]],
    ['that is too short', [second[0], second[1].slice(2)]],
    ['that is too long', [second[0], `${second[1]}00`]],
    ['that is no hex', [second[0], `${second[1].slice(1)}g`]],
    ['that is no text', [second[0], 1]],
    ['that is no pair', [...second, 'x']],
    ['that is a text', 'sv'],
    ['that is an object', { '!': 1, [second[1]]: 1 }],
    ['that is an object with a length', { ...second, length: 2 }],
    ['in a list', [second[0], [second[1]]]],
    ['by a number', [2, second[1]]],
  ] as const)
    yield refused('certificate.form', `a signature ${what}`, signedBy(first, pair))
  for (const [what, signature] of oddSignatures(keyPairs[1] as KeyPair, statementOf(state.point)))
    yield refused(
      'certificate.signature',
      `a signature ${what}`,
      signedBy(first, ['sv-2', toHex(signature)]),
    )
  for (const [what, change] of [
    ['offset', { offset: 43 }],
    ['record time', { recordTime: T + 1 }],
    ['history', { historyHash: 'ce'.repeat(32) }],
    ['root', { stateRoot: stateOf(LEAVES.slice(1)).point.stateRoot }],
  ] as const) {
    const signatures: readonly MemberSignature[] = signed
    const certificate = encodeCertificate({ ...state.point, genesisHash, signatures, ...change })
    yield refused(
      'certificate.signature',
      `another ${what} than was signed`,
      encodeDocument(certificate, PROOF),
    )
  }
  const other = 'ab'.repeat(32)
  yield refused(
    'certificate.network',
    'a certificate of another network',
    encodeDocument(certificateOf(state.point, [0, 1], other), PROOF),
  )
  yield refused(
    'certificate.network',
    'a certificate that names another network than was signed',
    DOCUMENT.replace(genesisHash, other),
  )
  const replaced = (name: string, member: string, by: string) =>
    refused(
      'certificate.form',
      name,
      DOCUMENT.replace(new RegExp(`"${member}":(?:"[^"]*"|\\d+)`), `"${member}":${by}`),
    )
  for (const member of ['genesis_hash', 'history_hash', 'state_root']) {
    const hash = JSON.parse(CERTIFICATE)[member] as string
    yield replaced(`a ${member} in capitals`, member, `"${hash.toUpperCase()}"`)
    yield replaced(`a ${member} that is too short`, member, `"${hash.slice(2)}"`)
    yield replaced(`a ${member} that is a number`, member, '1')
    yield replaced(`a ${member} in a list`, member, `["${hash}"]`)
  }
  for (const [what, number] of [
    ['below zero', '-42'],
    ['of 2^53', `${2 ** 53}`],
    ['with a fraction', '42.5'],
    ['with a fraction of zero', '42.0'],
    ['that is a text', '"42"'],
    ['that is a boolean', 'true'],
    ['that is null', 'null'],
  ] as const)
    for (const member of ['offset', 'record_time'])
      yield replaced(`a ${member} ${what}`, member, number)
  yield refused(
    'certificate.form',
    'a member of the certificate more',
    DOCUMENT.replace('"offset":42', '"offset":42,"page":1'),
  )
  yield refused(
    'certificate.form',
    'a member of the certificate too few',
    DOCUMENT.replace('"offset":42,', ''),
  )
  yield refused('certificate.form', 'a certificate that is null', encodeDocument('null', PROOF))
  yield refused(
    'certificate.form',
    'signatures that are no list',
    DOCUMENT.replace(JSON.stringify(signed), '{}'),
  )
}

/** Documents with the same content in another spelling, or with more content. */
export function* refusedTexts(): Generator<Refused> {
  const refused = (
    rule: Rule,
    name: string,
    document: string,
    request?: CanonicalRequest,
  ): Refused => ({
    rule,
    name,
    document,
    ...(request && { request }),
  })
  const json = (name: string, document: string, request?: CanonicalRequest) =>
    refused('json', name, document, request)
  const spelling = (name: string, document: string, request?: CanonicalRequest) =>
    refused('spelling', name, document, request)
  yield json('an empty text', '')
  yield json('a document that is cut off', DOCUMENT.slice(0, -1))
  yield json('text after the document', `${DOCUMENT}}`)
  yield json('a number with a zero before it', DOCUMENT.replace('"offset":42', '"offset":042'))
  yield json('a text that is not a number', DOCUMENT.replace('"offset":42', '"offset":NaN'))
  yield json('a list with a comma at its end', DOCUMENT.replace(/]}$/, ',]}'))
  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  yield json('a proof that is nested 20 000 levels deep', encodeDocument(CERTIFICATE, deep))
  yield refused('document.members', 'a document without members', '{}')
  yield refused('document.members', 'a document that is a list', '[]')
  yield refused(
    'document.members',
    'a document with a member more',
    DOCUMENT.replace(/}$/, ',"status":200}'),
  )
  yield refused('document.members', 'a document without a proof', `{"certificate":${CERTIFICATE}}`)
  yield spelling('white space before', ` ${DOCUMENT}`)
  yield spelling('white space after', `${DOCUMENT}\n`)
  yield spelling('white space inside', DOCUMENT.replace(',"proof"', ', "proof"'))
  yield spelling('white space in the certificate', DOCUMENT.replace('"offset":42', '"offset": 42'))
  yield spelling('white space in the proof', DOCUMENT.replace(/("proof":\[\d+),/, '$1, '))
  yield spelling('a member twice', DOCUMENT.replace('"offset":42', '"offset":42,"offset":42'))
  yield spelling(
    'a member of a leaf twice',
    DOCUMENT.replace(`"expires_at":${LATER}`, `"expires_at":${LATER},"expires_at":${LATER}`),
  )
  yield spelling('a proof twice', DOCUMENT.replace(',"proof"', ',"proof":[],"proof"'))
  yield spelling(
    'members in another order',
    DOCUMENT.replace(/^{("certificate":.*),("proof":.*)}$/, '{$2,$1}'),
  )
  yield spelling(
    'members of the certificate in another order',
    DOCUMENT.replace(/("offset":42),("record_time":\d+)/, '$2,$1'),
  )
  yield spelling(
    'members of a leaf in another order',
    DOCUMENT.replace(/("expires_at":\d+),("key":\[[^\]]*\])/, '$2,$1'),
  )
  yield spelling('an offset with an exponent', DOCUMENT.replace('"offset":42', '"offset":42e0'))
  yield spelling(
    'an expiry with an exponent',
    DOCUMENT.replace(`"expires_at":${LATER}`, `"expires_at":${LATER}E0`),
  )
  const zero = stateOf(LEAVES, 0)
  yield spelling(
    'an offset of minus zero',
    documentOf(zero, zero.prove(REQUEST)).replace('"offset":0', '"offset":-0'),
  )
  yield spelling('a signer with a needless escape', DOCUMENT.replace('"sv-1"', '"s\\u0076-1"'))
  yield spelling(
    'a value with a needless escape',
    DOCUMENT.replace('"value":"{', '"value":"\\u007b'),
  )
  yield spelling('a member with a needless escape', DOCUMENT.replace('"proof":', '"pr\\u006fof":'))
  yield* refusedEscapes()
  yield* refusedBytes()
}

/** Other spellings of characters that RFC 8785 escapes, or does not. */
function* refusedEscapes(): Generator<Refused> {
  const honest = documentOf(ESCAPES, ESCAPES.prove(ODD_NAME))
  const ofValue = documentOf(ESCAPES, ESCAPES.prove(SCANS))
  // The name is in the key and, escaped twice, in the value.
  for (const [what, text, by] of [
    ['an escaped solidus', '/', '\\/'],
    ['a backspace as a number', '\\b', '\\u0008'],
    ['a form feed as a number', '\\f', '\\u000c'],
    ['a line feed as a number', '\\n', '\\u000a'],
    ['a carriage return as a number', '\\r', '\\u000d'],
    ['a tab as a number', '\\t', '\\u0009'],
    ['a control character in capitals', '\\u001f', '\\u001F'],
    ['an escaped DEL', '\u007f', '\\u007f'],
    ['an escaped line separator', '\u2028', '\\u2028'],
    ['an escaped letter', 'é', '\\u00e9'],
    ['an escaped surrogate pair', '😀', '\\ud83d\\ude00'],
  ] as const) {
    const document = honest.replace(text, by)
    if (document === honest) throw new Error(`the document has no place for ${what}`)
    yield { rule: 'spelling', name: what, request: ODD_NAME, document }
  }
  for (const [what, text, by] of [
    ['a raw line feed', '\\n', '\n'],
    ['a raw tab', '\\t', '\t'],
    ['a raw control character', '\\u0001', '\u0001'],
    ['an unknown escape', '\\n', '\\v'],
    ['half an escape', '\\u0001', '\\u01'],
  ] as const)
    yield { rule: 'json', name: what, request: ODD_NAME, document: honest.replace(text, by) }
  yield {
    rule: 'json',
    name: 'a raw line feed in a value',
    request: SCANS,
    document: ofValue.replace('\\n', '\n'),
  }
}

const REPLACED = stateOf([
  leafOf(['c', 'dso'], '"\ufffd\ufffd\ufffd"'),
  leafOf(['n', 'a\ufffd', ''], '{}'),
])

/** Bytes that a lenient decoder reads as U+FFFD, in a state that contains that character. */
function* refusedBytes(): Generator<Refused> {
  const honest = documentOf(REPLACED, REPLACED.prove(DSO))
  const inKey = documentOf(REPLACED, REPLACED.prove(byName('b')))
  const three = '\ufffd\ufffd\ufffd'
  const withBytes = (text: string, bytes: readonly number[]) => {
    const [before, after] = honest.split(text) as [string, string]
    return Buffer.concat([Buffer.from(before), Uint8Array.from(bytes), Buffer.from(after)])
  }
  for (const [what, text, bytes] of [
    ['bytes that are no UTF-8', '\ufffd', [0xff]],
    ['half of a surrogate pair in UTF-8', three, [0xed, 0xa0, 0xbd]],
    ['an overlong encoding', '\ufffd\ufffd', [0xc0, 0xaf]],
  ] as const)
    yield {
      rule: 'json',
      name: what,
      request: DSO,
      bytes: withBytes(
        three,
        text === three ? bytes : [...bytes, ...Buffer.from(three.slice(text.length))],
      ),
    }
  yield { rule: 'json', name: 'a byte order mark', bytes: Buffer.from(`\ufeff${DOCUMENT}`) }
  yield {
    rule: 'spelling',
    name: 'half of a surrogate pair in a value',
    request: DSO,
    document: honest.replace('\ufffd', '\\ud83d'),
  }
  yield {
    rule: 'spelling',
    name: 'half of a surrogate pair in a key',
    request: byName('b'),
    document: inKey.replace('\ufffd', '\\ude00'),
  }
}
