/** Vectors to refuse: invalid proofs, and proofs of states that honest members do not sign. */
import type { CanonicalRequest } from '@quorumscan/verifier'
import { encodeDocument, type ProofItem } from '@quorumscan/verifier/certified'
import type { Refused, Rule } from '../support/vector.ts'
import { genesis } from './build.ts'
import { BETWEEN, BITS, GAP } from './certified-proven.ts'
import {
  ALICE,
  BATCH,
  BOB,
  byName,
  byParty,
  CERTIFICATE,
  DSO,
  documentOf,
  EVE,
  entryLeaves,
  LATER,
  LEAVES,
  leafOf,
  MEMBER,
  page,
  SCANS,
  type State,
  state,
  stateOf,
  T,
} from './state.ts'

const REQUEST = byName('alice.unverified.ns')
const ABSENT = byName('eve.unverified.ns')

export function* refusedProofs(): Generator<Refused> {
  yield* refusedItems()
  yield* refusedLeaves()
  yield* refusedStates()
  yield* refusedRanges()
  yield* refusedGaps()
  yield* refusedValues()
}

const HASH = `${'A'.repeat(43)}=`

/** Lists that are not a tree of the state. */
function* refusedItems(): Generator<Refused> {
  const proof: readonly ProofItem[] = JSON.parse(state.prove(REQUEST))
  const withProof = (rule: Rule, name: string, items: unknown, request = REQUEST): Refused => ({
    rule,
    name,
    request,
    document: encodeDocument(CERTIFICATE, JSON.stringify(items)),
  })
  const replaced = (kind: string, by: unknown) =>
    proof.with(
      proof.findIndex((item) => typeof item === kind),
      by as ProofItem,
    )
  const leafIndex = proof.findIndex((item) => typeof item === 'object')
  const lastBit = proof.findLastIndex((item) => typeof item === 'number')
  yield withProof('proof.list', 'a proof that is no list', {})
  yield withProof('proof.list', 'a proof that is null', null)
  yield withProof('proof.short', 'an empty proof of a state that is not empty', [])
  yield withProof('proof.hidden', 'the root alone', [
    Buffer.from(state.point.stateRoot, 'hex').toString('base64'),
  ])
  yield withProof('proof.short', 'an item too few', proof.slice(0, -1))
  yield withProof('proof.long', 'an item too many', [...proof, 7])
  yield withProof('proof.long', 'the proof twice', [...proof, ...proof])
  for (const [what, item] of [
    ['null', null],
    ['a boolean', true],
    ['a list', []],
    ['a number with a fraction', 1.5],
  ] as const)
    yield withProof('proof.item', `an item that is ${what}`, proof.with(leafIndex, item as never))
  yield withProof('proof.root', 'another bit', proof.with(lastBit, (proof[lastBit] as number) + 1))
  yield withProof('proof.bit', 'a bit below zero', replaced('number', -1))
  yield withProof('proof.bit', 'a bit of 3 200', proof.with(lastBit, 3200))
  yield withProof(
    'proof.bit',
    'a bit that is that of the node above',
    proof.with(lastBit, proof[0] as number),
  )
  yield withProof(
    'proof.item',
    'a bit with a fraction',
    proof.with(lastBit, (proof[lastBit] as number) + 0.5),
  )
  yield withProof('proof.root', 'another hash', replaced('string', HASH))
  for (const [what, hash] of [
    ['without padding', HASH.slice(0, -1)],
    ['of 31 bytes', Buffer.alloc(31).toString('base64')],
    ['of 33 bytes', Buffer.alloc(33).toString('base64')],
    ['with bits after its end', `${'A'.repeat(42)}B=`],
    ['with white space', `${HASH}\n`],
    ['with a character that is not of base64', `${'A'.repeat(42)}!=`],
    ['that is empty', ''],
  ] as const)
    yield withProof('proof.hash', `a hash ${what}`, replaced('string', hash))
  const url = proof.map((item) =>
    typeof item === 'string' ? item.replaceAll('+', '-').replaceAll('/', '_') : item,
  )
  yield withProof('proof.hash', 'hashes in base64url', url)
  const empty = stateOf([])
  for (const [what, items] of [
    ['a bit', [7]],
    ['the hash of the empty tree', [HASH]],
    ['a leaf', [{ expires_at: null, key: ['a'], value_hash: HASH }]],
    ['null', [null]],
  ] as const)
    yield {
      rule: 'proof.long',
      name: `items for the empty tree: ${what}`,
      request: REQUEST,
      document: documentOf(empty, JSON.stringify(items)),
    }
}

/** Invalid leaves, and leaves that differ from those of the state. */
function* refusedLeaves(): Generator<Refused> {
  const change = (
    rule: Rule,
    name: string,
    by: (leaf: { expires_at: number; key: string[]; value: string; value_hash: string }) => object,
    request: CanonicalRequest = REQUEST,
  ): Refused => {
    const proof: readonly ProofItem[] = JSON.parse(state.prove(request))
    const index = proof.findIndex((item) => typeof item === 'object')
    const items = proof.with(index, by(proof[index] as never) as ProofItem)
    return { rule, name, request, document: encodeDocument(CERTIFICATE, JSON.stringify(items)) }
  }
  for (const [what, expiry] of [
    ['that is a text', `${LATER}`],
    ['that is a boolean', true],
    ['below zero', -1],
    ['of 2^53', 2 ** 53],
    ['with a fraction', 0.5],
  ] as const)
    yield change('proof.expiry', `an expiry ${what}`, (leaf) => ({ ...leaf, expires_at: expiry }))
  yield change('proof.root', 'another expiry', (leaf) => ({ ...leaf, expires_at: LATER + 1 }))
  yield change('proof.root', 'a leaf that never expires', (leaf) => ({ ...leaf, expires_at: null }))
  yield change('proof.leaf', 'a leaf with a member more', ({ expires_at, key, value }) => ({
    expires_at,
    hash: 1,
    key,
    value,
  }))
  yield change('proof.leaf', 'a leaf with value and hash', (leaf) => ({
    ...leaf,
    value_hash: HASH,
  }))
  yield change('proof.leaf', 'a leaf with neither value nor hash', ({ expires_at, key }) => ({
    expires_at,
    key,
  }))
  yield change('proof.leaf', 'a leaf without a key', ({ expires_at, value }) => ({
    expires_at,
    value,
  }))
  yield change('proof.leaf', 'a value that is null', (leaf) => ({ ...leaf, value: null }))
  yield change('proof.leaf', 'a value that is an entry', (leaf) => ({
    ...leaf,
    value: {},
  }))
  yield change(
    'proof.hash',
    'a value hash that is null',
    (leaf) => ({ ...leaf, value_hash: null }),
    ABSENT,
  )
  yield change(
    'proof.hash',
    'a value hash of 31 bytes',
    (leaf) => ({ ...leaf, value_hash: Buffer.alloc(31).toString('base64') }),
    ABSENT,
  )
  yield change('proof.key', 'a key that is a text', (leaf) => ({
    ...leaf,
    key: leaf.key.join(''),
  }))
  yield change('proof.key', 'a key with a number', (leaf) => ({
    ...leaf,
    key: leaf.key.with(1, 1 as never),
  }))
  yield change('proof.key', 'a key of 401 bytes', (leaf) => ({
    ...leaf,
    key: ['n', 'x'.repeat(398)],
  }))
  for (const [what, request] of [
    ['', REQUEST],
    [' of a gap', ABSENT],
  ] as const)
    yield change(
      'proof.key',
      `two components of a key${what} that are joined by U+0000`,
      (leaf) => ({ ...leaf, key: [`${leaf.key[0]}\0${leaf.key[1]}`, ...leaf.key.slice(2)] }),
      request,
    )
  yield change(
    'proof.key',
    'the last two components of a key that are joined by U+0000',
    (leaf) => ({
      ...leaf,
      key: [leaf.key[0], leaf.key.slice(1).join('\0')],
    }),
  )
  yield change('proof.root', 'another key', (leaf) => ({ ...leaf, key: leaf.key.with(1, 'eve') }))
  yield change('proof.root', 'another value', (leaf) => ({
    ...leaf,
    value: leaf.value.replace('alice', 'eve'),
  }))
  yield change(
    'proof.hidden',
    'the hash of a value in its place',
    ({ expires_at, key, value }) => ({
      expires_at,
      key,
      value_hash: Buffer.from(leafOf([], value).valueHash).toString('base64'),
    }),
  )
}

/** Proofs of other states or other names. */
function* refusedStates(): Generator<Refused> {
  const document = (rule: Rule, name: string, proof: string): Refused => ({
    rule,
    name,
    request: REQUEST,
    document: encodeDocument(CERTIFICATE, proof),
  })
  const stolen = stateOf([...LEAVES.slice(7), ...entryLeaves('alice.unverified.ns', EVE, LATER)])
  yield document('proof.root', 'the proof of a state that no member signed', stolen.prove(REQUEST))
  yield document(
    'proof.root',
    'the proof of an absence in a state without the name',
    stateOf(LEAVES.slice(7)).prove(REQUEST),
  )
  for (const name of ['alicf.unverified.ns', 'eve.unverified.ns'])
    yield document('proof.hidden', `the proof of another name, ${name}`, state.prove(byName(name)))
}

/** Proofs of other ranges than those of the request. */
function* refusedRanges(): Generator<Refused> {
  const proofs: readonly (readonly [Rule, string, CanonicalRequest, CanonicalRequest, number?])[] =
    [
      [
        'proof.needless',
        'a value of what has expired',
        byName('bobby.unverified.ns'),
        byName('bobby.unverified.ns'),
        T - 1,
      ],
      [
        'proof.hidden',
        'no value of what has not expired',
        byName('carol.unverified.ns'),
        byName('carol.unverified.ns'),
        T + 1,
      ],
      ['proof.needless', 'a longer name', byName('bob'), page(1, null, 'bob')],
      ['proof.hidden', 'a page that shows no leaf after it', page(2, null, ''), page(1, null, '')],
      [
        'proof.needless',
        'a page that shows more than the leaf after it',
        page(2, null, ''),
        page(3, null, ''),
      ],
      [
        'proof.needless',
        'the first page for the next',
        page(2, 'alicf.unverified.ns', ''),
        page(2, null, ''),
      ],
      [
        'proof.hidden',
        'the next page for the first',
        page(2, null, ''),
        page(2, 'alicf.unverified.ns', ''),
      ],
      ['proof.hidden', 'a longer prefix', page(10, null, 'bob'), page(10, null, 'bobb')],
      ['proof.needless', 'a shorter prefix', page(10, null, 'bobb'), page(10, null, 'bob')],
      [
        'proof.hidden',
        'a member by its key of parties',
        byParty(MEMBER),
        byParty(`sv-2::1220${'0'.repeat(64)}`),
      ],
      [
        'proof.hidden',
        'the operator by the name of a member',
        byParty(genesis.dso),
        byParty(MEMBER),
      ],
      ['proof.needless', 'a name for a party', byParty(ALICE), REQUEST],
      ['proof.short', 'one lookup of a batch', BATCH, byName('bob.unverified.ns')],
      ['proof.long', 'a proof where none is needed', byName('x\0'), REQUEST],
      [
        'proof.short',
        'the names of a member without its own',
        page(10, null, MEMBER, true),
        page(10, 'sv-2.sv.ns', MEMBER, true),
      ],
      ['proof.hidden', 'other rules', DSO, SCANS],
    ]
  for (const [rule, name, request, shown, at] of proofs)
    yield { rule, name, request, document: encodeDocument(CERTIFICATE, state.prove(shown, at)) }
  for (const [name, request, path] of [
    ['the lower of two names that part within a byte, for a page between them', BETWEEN, 'L'],
    ['the higher of two names that part within a byte, for a page between them', BETWEEN, 'R'],
    ['the higher of two names that part within a byte, for a name between them', byName('c'), 'R'],
  ] as const)
    yield { rule: 'proof.hidden', name, request, document: documentOf(BITS, BITS.showPath(path)) }
  yield {
    rule: 'proof.needless',
    name: 'the values of names on both sides of a page',
    request: BETWEEN,
    document: documentOf(BITS, BITS.showPath('l', true)),
  }
  yield {
    rule: 'proof.short',
    name: 'the names of a member after one before its own, without its own',
    request: page(10, 'aaa', MEMBER, true),
    document: encodeDocument(CERTIFICATE, state.prove(page(10, 'sv-2.sv.ns', MEMBER, true))),
  }
}

/** Proofs that do not show that a subtree has no key of the range. */
function* refusedGaps(): Generator<Refused> {
  const gap = (
    rule: Rule,
    name: string,
    asked: string,
    path: string,
    isValueShown = false,
  ): Refused => ({
    rule,
    name: `${name}, for ${asked}`,
    request: byName(asked),
    document: documentOf(GAP, GAP.showPath(path, isValueShown)),
  })
  // Honest paths are LL for b, and LRL for bzz.
  yield gap('proof.hidden', 'another leaf that proves a gap', 'b', 'LRL')
  yield gap('proof.hidden', 'the last leaf of a gap', 'b', 'R')
  yield gap('proof.needless', 'the first leaf of a gap', 'bzz', 'LL')
  yield gap('proof.hidden', 'the neighbor of the leaf that proves a gap', 'bzz', 'LRR')
  yield gap('proof.needless', 'a gap with the value of its leaf', 'b', 'LL', true)
  yield gap('proof.needless', 'a deep gap with the value of its leaf', 'bzz', 'LRL', true)
  yield gap('proof.needless', 'a gap with the leaf next to its leaf', 'bzz', 'LRl')
  yield gap('proof.needless', 'a gap with the leaf next to its first node', 'b', 'lL')
  yield gap('proof.hidden', 'a gap that ends before its leaf', 'b', 'L')
  yield gap('proof.hidden', 'a gap that ends before its leaf, next to another', 'b', 'l')
}

/** Values in states that honest members do not sign. */
function* refusedValues(): Generator<Refused> {
  const value = (name: unknown, user: unknown) => JSON.stringify({ name, user })
  const odd = (
    rule: Rule,
    name: string,
    key: readonly string[],
    text: string,
    request: CanonicalRequest = byName('a'),
  ): Refused => {
    const ofState: State = stateOf([leafOf(key, text)])
    return { rule, name, request, document: documentOf(ofState, ofState.prove(request)) }
  }
  const ofName = ['n', 'a', '00']
  const ofParty = ['p', ALICE, 'a', '00']
  yield odd('value.entry', 'an entry with another name than its key', ofName, value('b', ALICE))
  yield odd('value.entry', 'an entry without a name', ofName, JSON.stringify({ user: ALICE }))
  yield odd('value.entry', 'an entry without a user', ofName, JSON.stringify({ name: 'a' }))
  yield odd('value.entry', 'an entry with a user that is no text', ofName, value('a', 1))
  for (const [what, text] of [
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"a"'],
    ['a number', '1'],
  ] as const)
    yield odd('value.entry', `an entry that is ${what}`, ofName, text)
  yield odd(
    'value.entry',
    'an entry with another user than its key',
    ofParty,
    value('a', EVE),
    byParty(ALICE),
  )
  yield odd(
    'value.entry',
    'an entry with another name than its key of a party',
    ofParty,
    value('b', ALICE),
    byParty(ALICE),
  )
  yield odd(
    'value.entry',
    'a key of a party without a name',
    ['p', ALICE],
    value('a', ALICE),
    byParty(ALICE),
  )
  yield odd(
    'value.party',
    'an entry of the operator with another user',
    ['n', 'dso.ns', ''],
    value('dso.ns', EVE),
    byParty(genesis.dso),
  )
  yield odd(
    'value.party',
    'an entry of a member in its list with another user',
    ['n', 'sv-2.sv.ns', ''],
    value('sv-2.sv.ns', BOB),
    page(2, null, MEMBER, true),
  )
  for (const text of [
    'a',
    '',
    "{'name':'a'}",
    '{"name":"a"} {}',
    '{"name":"a","user":"b",}',
    '{"name":"a","user":"b","url":NaN}',
  ])
    yield odd('value.json', `an entry that is no JSON: ${text}`, ofName, text)
  for (const text of ['a', '', 'NaN', '[Infinity]', '{}}'])
    yield odd('value.json', `a network value that is no JSON: ${text}`, ['c', 'dso'], text, DSO)
}
