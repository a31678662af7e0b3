/**
 * The forger: what a liar, with f keys, all public documents and the code of the reader, tries to pass for
 * the answer to a request. What it gets through is a flaw, as is an honest document that is refused.
 */

import { type Certificate, encodeCertificate } from '../../certificates/certificate.ts'
import { type Pruned, prune } from '../../proof/prune.ts'
import { encodeProof, type ProofItem, type ShownLeaf } from '../../proof/range-proof.ts'
import {
  leafOf,
  type NaiveNode,
  naiveReader,
  sha256,
  type ValuedLeaf,
} from '../../proof/testing/naive-tree.ts'
import type { CanonicalRequest } from '../../statements/canonical-request.ts'
import type { StatePoint } from '../../statements/statements.ts'
import { encodeDocument } from '../document.ts'
import type * as certified from '../index.ts'
import type { RangeQuery } from '../query.ts'
import { queryOf } from '../query-of-request.ts'
import { createTestNetwork } from './network.ts'
import {
  answerOf,
  createWorld,
  partyOfMember,
  pointOf,
  proofOf,
  tokenOf,
  treeOf,
  type World,
  type WorldEntry,
} from './world.ts'

/** The reader under attack. */
export type Reader = Pick<
  typeof certified,
  'createCertifiedVerifier' | 'queryOf' | 'prune' | 'isStale' | 'isBelowOffset'
>

const F = 1
export const network = createTestNetwork(3 * F + 1)
const MEMBER = partyOfMember(network, 0)
const T = 1000

const owned: readonly WorldEntry[] = [
  { name: 'alice', user: 'anna', expiresAt: 2000 },
  { name: 'alicf', user: 'anna', expiresAt: 2000 },
  { name: 'bob', user: 'ben', expiresAt: 900 },
  { name: 'bob', user: 'anna', expiresAt: 3000 },
  { name: 'carol', user: 'ben', expiresAt: T },
  { name: 'caroline', user: 'ben', expiresAt: T + 1 },
  { name: 'carolyn', user: 'ben', expiresAt: 2000 },
  { name: 'dave', user: MEMBER, expiresAt: 2000 },
  { name: 'zoe', user: MEMBER, expiresAt: 2000 },
  { name: 'wh\ufffd', user: 'ben', expiresAt: 2000 },
]
const stolen: readonly WorldEntry[] = [
  ...owned.filter(({ name }) => name !== 'alice' && name !== 'caroline' && name !== 'dave'),
  { name: 'alice', user: 'mallory', expiresAt: 2000 },
  { name: 'eve', user: 'mallory', expiresAt: 2000 },
  { name: 'dso.nt', user: network.genesis.dso, expiresAt: 2000 },
]
const truth = createWorld(network, owned, { offset: 42, recordTime: T })
/** A certified state of before, in which other things were true. */
const past = createWorld(network, stolen, { offset: 41, recordTime: T - 10 })
/** A state that no honest member has seen. */
const lie = createWorld(network, stolen, { offset: 42, recordTime: T })
/** A state that members signed, in which entries stand under keys of others. */
const odd = oddLeaves()
const oddPoint = pointOf(odd, { offset: 43, recordTime: T })

const page = (pageSize: number, pageToken: string | null = null) => ({
  page_size: pageSize,
  page_token: pageToken,
})
const entriesWith = (prefix: string, parameters: ReturnType<typeof page>) => ({
  operation: 'listEntries',
  parameters: { name_prefix: prefix, ...parameters },
})
const entriesOf = (party: string, parameters: ReturnType<typeof page>) => ({
  operation: 'listEntriesByParty',
  parameters: { party, ...parameters },
})
const carolToken = tokenOf(network.genesisHash, 'prefix\0carol', 42, 'caroline')
const memberToken = tokenOf(network.genesisHash, `party\0${MEMBER}`, 42, 'sv-1.sv.ns')
const daveToken = tokenOf(network.genesisHash, `party\0${MEMBER}`, 42, 'dave')

const requests: readonly CanonicalRequest[] = [
  ...['alice', 'bob', 'carol', 'caroline', 'eve', 'a', '', 'dso.ns', 'alice\0', 'wh\ud800'].map(
    (name) => ({ operation: 'getEntryByName', parameters: { name } }),
  ),
  ...[
    'anna',
    'ben',
    'mallory',
    'ann',
    'ben\0',
    MEMBER,
    network.genesis.dso,
    `sv-1::1220${'0'.repeat(64)}`,
  ].map((party) => ({ operation: 'getEntryByParty', parameters: { party } })),
  {
    operation: 'lookupEntries',
    parameters: {
      lookups: [{ name: 'bob' }, { party: 'ben' }, { name: 'x\0' }, { name: 'carol' }],
    },
  },
  entriesWith('', page(100)),
  entriesWith('', page(3)),
  entriesWith('alice', page(5)),
  entriesWith('carol', page(1)),
  entriesWith('carol', page(2)),
  entriesWith('carol', page(1, carolToken)),
  entriesWith('carol\0', page(2)),
  entriesOf('ben', page(2)),
  entriesOf('ben', page(3)),
  entriesOf(MEMBER, page(1)),
  entriesOf(MEMBER, page(2, daveToken)),
  entriesOf(MEMBER, page(2, memberToken)),
  { operation: 'getDso', parameters: { shared: true } },
  { operation: 'listScans', parameters: {} },
]

/** The answer to each request, as it is. */
export function honestDocuments() {
  return requests.map((request) => ({
    request,
    document: documentOf(truth, honestProof(truth, request)),
  }))
}

type Dice = {
  /** Cuts of each kind, for each request. */
  readonly cutCount: number
  /** A number from 0 to below. */
  readonly roll: (below: number) => number
}

/** Flaws of a reader, as sentences, one after the other as they are found. */
export async function* findFlaws(reader: Reader, dice: Dice): AsyncGenerator<string> {
  yield* freshnessFlaws(reader)
  const verifier = reader.createCertifiedVerifier(network)
  /** What the reader takes a document for; null: for nothing. */
  const judge = async (document: string, request: CanonicalRequest) => {
    try {
      return await verifier.verify(document, reader.queryOf(request, network), 'weak')
    } catch (error) {
      if (error instanceof Error && error.name === 'InvalidProof') return null
      return error as Error
    }
  }

  for (const request of requests) {
    const verified = await judge(documentOf(truth, honestProof(truth, request)), request)
    const about = JSON.stringify(request)
    if (verified === null || verified instanceof Error) yield `refuses the truth about ${about}`
    else if (!isTrue(verified, request)) yield `takes the truth about ${about} for something else`
  }
  // What is likeliest to pass first.
  for (const forge of [nearlyRight, answersOfOthers, changed, cut])
    for (const request of requests)
      for (const [way, forged] of forge(request, reader, dice)) {
        const taken = await judge(forged, request)
        const about = JSON.stringify(request)
        if (taken === null) continue
        if (taken instanceof Error) yield `breaks at ${way} about ${about}: ${taken}`
        else if (!isTrue(taken, request)) yield `believes ${way} about ${about}`
        else if (!isHonest(forged, taken.offset, request))
          yield `takes ${way} about ${about}, which is another spelling`
      }
}

function* freshnessFlaws(reader: Reader): Generator<string> {
  const freshness = { nowMicros: 5000, maxAgeMs: 1 }
  if (!reader.isStale(3999, freshness)) yield 'believes what is too old'
  if (reader.isStale(4000, freshness)) yield 'refuses what is not too old'
  if (!reader.isBelowOffset(41, 42)) yield 'goes back to an offset before the last one'
  if (reader.isBelowOffset(42, 42)) yield 'refuses what it has seen'
}

const worldAt = (offset: number) => [truth, past].find(({ point }) => point.offset === offset)

/** Whether it was so, at an offset at which members signed the state. */
function isTrue(taken: certified.Certified<unknown>, request: CanonicalRequest): boolean {
  const world = worldAt(taken.offset)
  // A walk continues at the offset where it began.
  if (world === undefined || (world === past && request.parameters['page_token'] != null))
    return false
  return (
    JSON.stringify(taken.answer) === JSON.stringify(answerOf(world, request, network.genesisHash))
  )
}

function isHonest(document: string, offset: number, request: CanonicalRequest): boolean {
  const world = worldAt(offset) as World
  return document === documentOf(world, honestProof(world, request))
}

function honestProof({ leaves, point }: World, request: CanonicalRequest): readonly ProofItem[] {
  return proofOf(leaves, rangeQueryOf(request), point.recordTime)
}

/** All these requests are of leaves of the state. */
function rangeQueryOf(
  request: CanonicalRequest,
  reader: Pick<Reader, 'queryOf'> = { queryOf },
): RangeQuery<unknown> {
  return reader.queryOf(request, network) as RangeQuery<unknown>
}

const certificateByPoint = new Map<StatePoint, string>()

function documentOf(world: { readonly point: StatePoint }, proof: readonly ProofItem[]): string {
  const { point } = world
  const certificate =
    certificateByPoint.get(point) ?? encodeCertificate(network.certificateOf(point, [1, 2, 3]))
  certificateByPoint.set(point, certificate)
  return encodeDocument(certificate, JSON.stringify(proof))
}

type Forgeries = Generator<readonly [way: string, document: string]>

/** What was proven of something else. */
function* answersOfOthers(request: CanonicalRequest): Forgeries {
  yield ['the past', documentOf(past, honestProof(past, request))]
  yield ['a state without signatures', documentOf(truth, honestProof(lie, request))]
  for (const [way, certificate] of certificates(lie.point))
    yield [way, encodeDocument(certificate, JSON.stringify(honestProof(lie, request)))]
  for (const other of requests)
    yield ['the answer to another request', documentOf(truth, honestProof(truth, other))]
}

/** What is nearly what was asked for; who knows the code knows what it asks for. */
function* nearlyRight(request: CanonicalRequest, reader: Reader): Forgeries {
  const stateQuery = rangeQueryOf(request, reader)
  for (const at of [T, T - 1, T - 500, T + 1])
    for (const pruneTree of [prune, reader.prune])
      for (const world of [truth, past]) {
        const proof = proofOf(world.leaves, stateQuery, at, pruneTree)
        yield ['what the reader forgets to look at', documentOf(world, proof)]
      }
  for (const range of stateQuery.ranges)
    for (const moved of [
      { ...range, limit: Math.max(1, range.limit - 1) },
      { ...range, limit: range.limit + 1 },
      { ...range, from: range.to },
      { ...range, to: range.from },
    ]) {
      const proof = proofOf(truth.leaves, { ...stateQuery, ranges: [moved] }, T)
      yield ['another run', documentOf(truth, proof)]
    }

  const shown = proofOf(odd, stateQuery, T)
  // The name alone does not show its owner.
  const isKnown = request.parameters['name'] !== 'dso.ns'
  if (isKnown && shown.some((item) => typeof item === 'object' && 'value' in item)) {
    yield ['an entry under a key that is not its own', documentOf({ point: oddPoint }, shown)]
  }
}

/** The honest proof with one part changed. */
function* changed(request: CanonicalRequest): Forgeries {
  const proof = honestProof(truth, request)
  for (const [index, item] of proof.entries()) {
    const replaced = (...items: ProofItem[]) =>
      documentOf(truth, proof.toSpliced(index, 1, ...items))
    yield ['a proof with a part left out', replaced()]
    yield ['a proof with a part doubled', replaced(item, item)]
    if (typeof item === 'number')
      for (const bit of [item - 1, item + 1, 0]) yield ['another bit', replaced(bit)]
    else if (typeof item === 'string') {
      yield ['another hash', replaced(hashOf('other'))]
      yield ['a hash in another spelling', replaced(respelt(item))]
    } else for (const other of otherLeaves(item)) yield ['another leaf', replaced(other)]
    const swapped = [...proof.slice(0, index), ...proof.slice(index + 1, index + 2), item]
    yield ['parts in another order', documentOf(truth, [...swapped, ...proof.slice(index + 2)])]
  }
  yield ['no proof', documentOf(truth, [])]
  const root = Buffer.from(truth.point.stateRoot, 'hex').toString('base64')
  yield ['a bare root', documentOf(truth, [root])]
}

/** Another spelling of the hash: two bits of the last letter are not used. */
function respelt(hash: string): string {
  const last = String.fromCharCode(hash.charCodeAt(42) + 1)
  return `${hash.slice(0, 42)}${last}=`
}

function otherLeaves({ expires_at, key, ...value }: ShownLeaf): readonly ShownLeaf[] {
  const hash = hashOf('value' in value ? value.value : 'other')
  return [
    { expires_at, key, value: JSON.stringify({ name: key.at(-2), user: 'mallory' }) },
    { expires_at, key, value_hash: hash },
    { expires_at, key, value: '', ...value, value_hash: hash } as ShownLeaf,
    { expires_at: (expires_at ?? 0) + 1000, key, ...value },
    { expires_at: null, key, ...value },
    { expires_at, key: key.with(-1, 'x'), ...value },
  ]
}

/** The true tree, cut at random, once for each range of the request. */
function* cut(request: CanonicalRequest, reader: Reader, { cutCount, roll }: Dice): Forgeries {
  const { ranges } = rangeQueryOf(request, reader)
  const root = treeOf(truth.leaves) as NaiveNode
  for (let count = 0; count < cutCount; count++) {
    const proof = ranges.flatMap(() => encode(cutAnywhere(root, roll)))
    yield ['the true tree with parts cut off', documentOf(truth, proof)]
    const nearly = ranges.flatMap((range) => {
      const pruned = prune(naiveReader, root, { ...range, at: T })
      return encode(cutOtherwise(root, pruned, roll))
    })
    yield ['the proof with parts cut off', documentOf(truth, nearly)]
  }
}

/** What a liar can have signed for a state of its own. */
function* certificates(point: StatePoint): Generator<readonly [way: string, certificate: string]> {
  const own = network.certificateOf(point, [0]).signatures[0] as readonly [string, string]
  const signedBy = (signatures: Certificate['signatures'], more: Partial<Certificate> = {}) =>
    encodeCertificate({ ...point, genesisHash: network.genesisHash, signatures, ...more })
  yield ['no signature', signedBy([])]
  yield ['what f members signed', signedBy([own])]
  yield ['one member for two', signedBy([own, own])]
  yield ['one member under two names', signedBy([own, ['sv-2', own[1]]])]
  const strangers = createTestNetwork(9).certificateOf(point, [6, 7, 8]).signatures
  const ofStrangers = strangers.map(
    ([, signature], index) => [`sv-${index + 5}`, signature] as const,
  )
  yield ['strangers', signedBy([own, ...ofStrangers])]
  yield ['strangers alone', signedBy(ofStrangers)]
  yield [
    'members whose signatures are of another state',
    signedBy(network.certificateOf(truth.point, [0, 1, 2]).signatures),
  ]
  const other = 'cd'.repeat(32)
  const ofOther = [1, 2, 3].map(
    (index) => [`sv-${index + 1}`, network.signatureOf(index, point, other)] as const,
  )
  yield ['another network with the same keys', signedBy(ofOther, { genesisHash: other })]
  yield ['another network, renamed', signedBy(ofOther)]
}

/** Entries that stand where others should. */
function oddLeaves(): readonly ValuedLeaf[] {
  const value = (name: string, user: string) => JSON.stringify({ name, user })
  return [
    leafOf(['n', 'alice', '00'], value('eve', 'anna')),
    leafOf(['n', 'eve', '00'], 'null'),
    leafOf(['n', 'caroline', '00'], '{'),
    leafOf(['n', 'carolyn', '00'], value('carol', 'ben')),
    leafOf(['p', 'anna', 'alice', '00'], value('alice', 'mallory')),
    leafOf(['p', 'ben', 'caroline', '00'], value('carolyn', 'ben')),
    leafOf(['n', 'sv-1.sv.ns', ''], value('sv-1.sv.ns', 'mallory')),
    leafOf(['n', 'dso.ns', ''], value('dso.ns', 'mallory')),
    leafOf(['c', 'dso'], 'it'),
    leafOf(['c', 'scans'], ''),
  ]
}

const encode = (pruned: Pruned): readonly ProofItem[] =>
  JSON.parse(`[${encodeProof(pruned, (leaf) => (leaf as ValuedLeaf).value)}]`)

function cutAnywhere(node: NaiveNode, roll: (below: number) => number): Pruned {
  const face = roll(6)
  if (face === 0) return { kind: 'hash', hash: naiveReader.hash(node) }
  if ('leaf' in node) return { kind: 'leaf', leaf: node.leaf, isVisible: face > 1 }
  const { bit, left, right } = node
  return { kind: 'inner', bit, left: cutAnywhere(left, roll), right: cutAnywhere(right, roll) }
}

/** What an honest proof shows, but for a few parts. */
function cutOtherwise(node: NaiveNode, pruned: Pruned, roll: (below: number) => number): Pruned {
  const isOther = roll(8) === 0
  if (pruned.kind === 'hash') return isOther ? cutAnywhere(node, roll) : pruned
  if (isOther && roll(2) === 0) return { kind: 'hash', hash: naiveReader.hash(node) }
  if (pruned.kind === 'leaf') return isOther ? { ...pruned, isVisible: !pruned.isVisible } : pruned
  if ('leaf' in node) throw new Error('a pruned tree has the shape of the tree')
  return {
    ...pruned,
    left: cutOtherwise(node.left, pruned.left, roll),
    right: cutOtherwise(node.right, pruned.right, roll),
  }
}

const hashOf = (text: string) => Buffer.from(sha256(Buffer.from(text))).toString('base64')
