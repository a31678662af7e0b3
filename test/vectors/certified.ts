/** The published vectors of certified reads as they follow from fixed keys; `certified.json` holds them. */
import { type KeyPair, sha256, toHex, utf8 } from '@quorumscan/base'
import {
  type CanonicalRequest,
  canonicalJson,
  createWebCrypto,
  encodeStateStatement,
  type Json,
  requestOfActivities,
  type StatePoint,
} from '@quorumscan/consensus'
import {
  ACTIVITY_TREE,
  createCertifiedVerifier,
  encodeCertificate,
  encodeDocument,
  encodeProof,
  formatPageToken,
  joinActivitiesProof,
  joinProofs,
  type ProofItem,
  prune,
  questionOf,
} from '@quorumscan/consensus/certified'
import { createStateTree, keyOf, type Leaf } from '@quorumscan/consensus/state-tree'
import { genesis, genesisHash, genesisText, keyPairs } from './build.ts'
import { historyOf, provenRuns, refusedRuns, runOf } from './certified-activities.ts'

const T = 1_700_000_000_123_456
const LATER = T + 1_000_000
const partyOf = (hint: string, digit: string) => `${hint}::1220${digit.repeat(64)}`
const [ALICE, BOB, EVE] = [partyOf('alice', 'a'), partyOf('bob', 'b'), partyOf('eve', 'e')]
const memberParty = (index: number) => {
  const { name, operatorKey } = genesis.nodes[index] as (typeof genesis.nodes)[number]
  return `${name}::1220${toHex(sha256(Buffer.from(operatorKey, 'hex')))}`
}
const MEMBER = memberParty(1)

type VectorLeaf = Leaf & { readonly value: string }

function leafOf(key: readonly string[], value: string, expiresAt: number | null): VectorLeaf {
  return { key: keyOf(key), expiresAt, value, valueHash: sha256(utf8(value)) }
}

function entryLeaves(name: string, user: string, expiresAt: number | null): VectorLeaf[] {
  const id = expiresAt === null ? null : `00${toHex(sha256(utf8(`${name} ${expiresAt}`)))}`
  const value = JSON.stringify({
    contract_id: id,
    user,
    name,
    url: id === null ? '' : `https://${name}/`,
    description: id === null ? '' : 'grün "and" {so} on \\ 😀',
    expires_at: id === null ? null : '2024-02-12T00:00:00.000000Z',
  })
  const byName = leafOf(['n', name, id ?? ''], value, expiresAt)
  return id === null ? [byName] : [byName, leafOf(['p', user, name, id], value, expiresAt)]
}

const RETENTION = genesis.activityRetentionMicros
const HISTORY = historyOf([
  ...[T - RETENTION - 5, T - RETENTION - 5, T - RETENTION, T - RETENTION + 1],
  ...[T - 2, T - 2, T],
])

const LEAVES: readonly VectorLeaf[] = [
  ...entryLeaves('dso.ns', genesis.dso, null),
  ...genesis.nodes.flatMap(({ name }, index) =>
    entryLeaves(`${name}.sv.ns`, memberParty(index), null),
  ),
  ...entryLeaves('alice.unverified.ns', ALICE, LATER),
  ...entryLeaves('alicf.unverified.ns', ALICE, LATER),
  // A name that expires at the record time is gone; its successor is there.
  ...entryLeaves('bob.unverified.ns', ALICE, T),
  ...entryLeaves('bob.unverified.ns', BOB, LATER),
  ...entryLeaves('bobby.unverified.ns', BOB, T),
  ...entryLeaves('carol.unverified.ns', BOB, T + 1),
  ...entryLeaves('carol\u0001', BOB, LATER),
  ...entryLeaves('é\uffff', BOB, LATER),
  ...entryLeaves('é😀', BOB, LATER),
  ...entryLeaves('zed.unverified.ns', MEMBER, LATER),
  leafOf(['c', 'dso'], canonicalJson({ dso_party_id: genesis.dso }), null),
  leafOf(['c', 'ans-rules'], canonicalJson({ ans_rules_update: null }), null),
  leafOf(['c', 'scans'], canonicalJson({ scans: [] }), null),
  leafOf(['m'], canonicalJson({ members: [] }), null),
  leafOf(['a'], HISTORY.tree, null),
]

function treeOf(leaves: readonly VectorLeaf[]) {
  const tree = createStateTree(
    {
      leafAt: (id) => leaves[id] as VectorLeaf,
      keyAt: (id) => (leaves[id] as VectorLeaf).key,
    },
    { sha256, toBase64: (hash) => Buffer.from(hash).toString('base64') },
  )
  for (const id of leaves.keys()) tree.add(id)
  return { tree, version: tree.commit() }
}

/** A state, and what an honest node proves of it. */
function stateOf(leaves: readonly VectorLeaf[], offset = 42) {
  const { tree, version } = treeOf(leaves)
  const point = {
    offset,
    recordTime: T,
    historyHash: 'cd'.repeat(32),
    stateRoot: toHex(version.rootHash),
  }
  const prove = (request: CanonicalRequest, at = T): string => {
    const question = questionOf(request, network)
    const ranges = 'ranges' in question ? question.ranges : [ACTIVITY_TREE]
    const proofs = ranges.map((range) => {
      const pruned = version.root === null ? null : prune(tree, version.root, { ...range, at })
      return encodeProof(pruned, (leaf) => (leaf as VectorLeaf).value)
    })
    return joinProofs(proofs)
  }
  return { point, prove }
}

export const network = { genesis, genesisHash, sha256 }
const state = stateOf(LEAVES)

type Signers = readonly number[]

function certificateOf(point: StatePoint, signers: Signers, ofNetwork = genesisHash): string {
  const statement = encodeStateStatement({ ...point, genesisHash: ofNetwork })
  const signatures = signers.map((index) => {
    const signature = toHex((keyPairs[index] as KeyPair).sign(statement))
    return [`sv-${index + 1}`, signature] as const
  })
  return encodeCertificate({ ...point, genesisHash: ofNetwork, signatures })
}

export type Vector = {
  /** What is proven, or why it is to be refused. */
  readonly name: string
  readonly request: CanonicalRequest
  /** Members that must have signed the state. */
  readonly signers: number
  readonly document: string
} & ({ readonly answer: Json; readonly signed_by: readonly string[] } | { readonly refuse: true })

const byName = (name: string) => ({ operation: 'getEntryByName', parameters: { name } })
const byParty = (party: string) => ({ operation: 'getEntryByParty', parameters: { party } })
const page = (size: number, after: string | null, list: string, isByParty = false) => {
  const subject = isByParty
    ? ({ kind: 'party', party: list } as const)
    : ({ kind: 'prefix', prefix: list } as const)
  const token = after && formatPageToken(network, subject, { after, offset: 42 })
  return {
    operation: isByParty ? 'listEntriesByParty' : 'listEntries',
    parameters: {
      ...(isByParty ? { party: list } : { name_prefix: list }),
      page_size: size,
      page_token: token,
    },
  }
}

const BATCH = {
  operation: 'lookupEntries',
  parameters: {
    lookups: [
      { name: 'bob.unverified.ns' },
      { name: 'x\0' },
      { party: ALICE },
      { party: EVE },
      { party: MEMBER },
      { name: 'bob.unverified.ns' },
    ],
  },
}

/** What every page of activities has to prove of the state. */
const ACTIVITY_TREE_REQUEST = requestOfActivities({ page_size: 1 })

const REQUESTS: readonly (readonly [name: string, request: CanonicalRequest])[] = [
  ['a name', byName('alice.unverified.ns')],
  ['a name that is absent', byName('eve.unverified.ns')],
  ['a name that others begin with', byName('alice')],
  ['a name that has expired', byName('bobby.unverified.ns')],
  ['a name that has expired and was taken anew', byName('bob.unverified.ns')],
  ['a name that expires right after', byName('carol.unverified.ns')],
  ['no name', byName('')],
  ['a name of 255 characters', byName('€'.repeat(255))],
  ['a name with U+0000', byName('alice.unverified.ns\0')],
  ['a name with half of a surrogate pair', byName('é\ud83d')],
  ['the name of the operator', byName('dso.ns')],
  ['a party', byParty(ALICE)],
  ['a party that has no name', byParty(EVE)],
  ['a party of which the lowest name has expired', byParty(BOB)],
  ['the operator', byParty(genesis.dso)],
  ['a member', byParty(MEMBER)],
  ['a party called like a member', byParty(`sv-2::1220${'0'.repeat(64)}`)],
  ['a party with U+0000', byParty(`${ALICE}\0`)],
  ['a batch', BATCH],
  ['an empty batch', { operation: 'lookupEntries', parameters: { lookups: [] } }],
  ['all entries', page(1000, null, '')],
  ['the first page', page(2, null, '')],
  ['the next page', page(2, 'alicf.unverified.ns', '')],
  ['the last page', page(3, 'sv-3.sv.ns', '')],
  ['a page that ends exactly with its list', page(2, null, 'ali')],
  ['a page of which the last leaf has expired', page(1, null, 'bob')],
  ['a prefix that nothing has', page(10, null, 'q')],
  ['a prefix beyond ASCII', page(10, null, 'é')],
  ['a prefix with U+0000', page(10, null, 'a\0')],
  ['all names of a party', page(10, null, BOB, true)],
  ['a page of a party', page(1, null, BOB, true)],
  ['all names of a member', page(10, null, MEMBER, true)],
  ['the first name of a member', page(1, null, MEMBER, true)],
  ['what comes behind it', page(1, 'sv-2.sv.ns', MEMBER, true)],
  ['all names of the operator', page(10, null, genesis.dso, true)],
  ['the rules of the network', { operation: 'getDso', parameters: { shared: true } }],
  [
    'the rules of names',
    {
      operation: 'getAnsRules',
      parameters: { cached_ans_rules_contract_id: null, cached_ans_rules_domain_id: null },
    },
  ],
  ['the nodes', { operation: 'listScans', parameters: {} }],
]

type Proven = Pick<Vector, 'name' | 'request' | 'signers' | 'document'>

function provenDocuments(): readonly Proven[] {
  const ofState = REQUESTS.map(([name, request], index) => {
    // By as many members as there can be, and by as few.
    const signers = [
      [0, 1, 2, 3],
      [0, 1, 2],
      [1, 3],
    ][index % 3] as Signers
    return proven(name, request, state, signers)
  })
  const empty = stateOf([])
  const single = stateOf(LEAVES.slice(0, 1))
  const ofActivities = [...provenRuns(HISTORY)].map(([name, request, run], index) =>
    provenRun(
      name,
      { request, run },
      state,
      (
        [
          [0, 1],
          [1, 2, 3],
        ] as const
      )[index % 2],
    ),
  )
  const none = historyOf([])
  const [[, firstRequest] = []] = provenRuns(HISTORY)
  return [
    ...ofState,
    ...ofActivities,
    provenRun(
      'activities where there never was one',
      { request: firstRequest as CanonicalRequest, run: runOf(none, 0, 0) },
      stateOf([leafOf(['a'], none.tree, null), leafOf(['m'], '{}', null)]),
    ),
    proven('a name in the empty state', byName('alice.unverified.ns'), empty),
    proven('a batch in the empty state', BATCH, empty),
    proven('the only name', byName('dso.ns'), single),
    proven('another name beside the only one', byName('alice.unverified.ns'), single),
  ]
}

function proven(
  name: string,
  request: CanonicalRequest,
  { point, prove }: typeof state,
  signers: Signers = [0, 1],
): Proven {
  const document = encodeDocument(certificateOf(point, signers), prove(request))
  return { name, request, signers: signers.length, document }
}

function provenRun(
  name: string,
  { request, run }: { readonly request: CanonicalRequest; readonly run: object },
  { point, prove }: typeof state,
  signers: Signers = [0, 1],
): Proven {
  return {
    name,
    request,
    signers: signers.length,
    document: activitiesDocument(run, prove(ACTIVITY_TREE_REQUEST), certificateOf(point, signers)),
  }
}

function activitiesDocument(run: object, stateProof: string, certificate: string): string {
  const proof = joinActivitiesProof(JSON.stringify(run), stateProof.slice(1, -1))
  return encodeDocument(certificate, proof)
}

type Refused = readonly [why: string, document: string, request?: CanonicalRequest]

function refusedDocuments(): readonly Refused[] {
  const request = byName('alice.unverified.ns')
  return [
    ...refusedCertificates(request),
    ...refusedTexts(request),
    ...refusedProofs(request),
    ...refusedRanges(),
    ...refusedActivities(),
  ]
}

function* refusedActivities(): Generator<Refused> {
  const certificate = certificateOf(state.point, [0, 1])
  const proof = state.prove(ACTIVITY_TREE_REQUEST)
  for (const [why, request, run] of refusedRuns(HISTORY))
    yield [why, activitiesDocument(run, proof, certificate), request]
  const [first] = provenRuns(HISTORY)
  if (first === undefined) throw new Error('there is a run')
  const [, request, run] = first
  const honest = activitiesDocument(run, proof, certificate)
  const other = stateOf([leafOf(['a'], historyOf([T]).tree, null)])
  const forged = activitiesDocument(run, other.prove(ACTIVITY_TREE_REQUEST), certificate)
  yield ['activities of another state', forged, request]
  yield ['activities without a tree', activitiesDocument(run, '[]', certificate), request]
  yield ['activities with a member more', honest.replace('"run":{', '"run":{"more":1,'), request]
  yield ['activities in another spelling', honest.replace('"first":3', '"first":3.0'), request]
  yield ['a proof of activities for a name', honest, byName('alice.unverified.ns')]
  yield [
    'a proof of a name for activities',
    proven('', byName('alice.unverified.ns'), state).document,
    request,
  ]
}

/** Each for two signers. */
function* refusedCertificates(request: CanonicalRequest): Generator<Refused> {
  const proof = state.prove(request)
  const certificate = certificateOf(state.point, [0, 1])
  const document = encodeDocument(certificate, proof)
  const signed = JSON.parse(certificate).signatures as [string, string][]
  const signedBy = (...signatures: unknown[]) =>
    document.replace(JSON.stringify(signed), JSON.stringify(signatures))
  const [first, second] = signed as [[string, string], [string, string]]
  yield ['nobody signed', signedBy()]
  yield ['one member signed, two are needed', signedBy(first)]
  yield ['a member signed twice', signedBy(first, first)]
  yield ['the signers are not in the order of the genesis', signedBy(second, first)]
  yield ['a signature is that of another member', signedBy(first, ['sv-3', second[1]])]
  yield [
    'a signature does not fit, though enough others do',
    signedBy(first, second, ['sv-3', second[1]]),
  ]
  yield [
    'a signer is no member, though enough others are',
    signedBy(first, second, ['sv-9', second[1]]),
  ]
  yield ['a signature has capitals', signedBy(first, [second[0], second[1].toUpperCase()])]
  yield ['a signature is too short', signedBy(first, [second[0], second[1].slice(2)])]
  yield ['a signature is no pair', signedBy(first, [...second, 'x'])]
  for (const [why, change] of [
    ['the offset is another one', { offset: 43 }],
    ['the record time is another one', { recordTime: T + 1 }],
    ['the history is another one', { historyHash: 'ce'.repeat(32) }],
    ['the root is another one', { stateRoot: stateOf(LEAVES.slice(1)).point.stateRoot }],
  ] as const)
    yield [
      `${why} than what was signed`,
      encodeDocument(
        encodeCertificate({ ...state.point, genesisHash, signatures: signed, ...change }),
        proof,
      ),
    ]
  const other = 'ab'.repeat(32)
  yield [
    'the certificate is of another network',
    encodeDocument(certificateOf(state.point, [0, 1], other), proof),
  ]
  yield [
    'the certificate names another network than was signed',
    document.replace(genesisHash, other),
  ]
}

/** What says the same in another spelling, or says more. */
function* refusedTexts(request: CanonicalRequest): Generator<Refused> {
  const { document } = proven('', request, state)
  yield ['nothing', '']
  yield ['no document', '{}']
  yield ['a list', '[]']
  yield ['white space before', ` ${document}`]
  yield ['white space behind', `${document}\n`]
  yield ['white space inside', document.replace(',"proof"', ', "proof"')]
  yield ['a member more', document.replace(/}$/, ',"status":200}')]
  yield ['a member twice', document.replace('"offset":42', '"offset":42,"offset":42')]
  yield [
    'a member of the certificate more',
    document.replace('"offset":42', '"offset":42,"page":1'),
  ]
  yield [
    'members in another order',
    document.replace(/^{("certificate":.*),("proof":.*)}$/, '{$2,$1}'),
  ]
  yield ['a number in another form', document.replace('"offset":42', '"offset":42.0')]
  yield ['an offset below zero', document.replace('"offset":42', '"offset":-42')]
  yield ['an offset of 2^53', document.replace('"offset":42', `"offset":${2 ** 53}`)]
  yield ['a text with a needless escape', document.replace('"sv-1"', '"s\\u0076-1"')]
  yield ['a value with a needless escape', document.replace('"value":"{', '"value":"\\u007b')]
  yield ['a proof that is no list', document.replace(/"proof":.*$/, '"proof":{}}')]
  yield ['a hash without padding', document.replace(/="/, '"')]
  yield [
    'a hash with bits behind its end',
    document.replace(/.(?==")/, (digit) => String.fromCharCode(digit.charCodeAt(0) + 1)),
  ]
  yield ['a leaf with a member more', document.replace('"key":', '"kez":1,"key":')]
  yield [
    'a leaf with value and hash',
    document.replace(/("value":"(?:[^"\\]|\\.)*")/, `$1,"value_hash":"${'A'.repeat(43)}="`),
  ]
  yield [
    'an expiry that is no integer',
    document.replace(`"expires_at":${LATER}`, `"expires_at":"${LATER}"`),
  ]
}

/** Other proofs for the same request. */
function* refusedProofs(request: CanonicalRequest): Generator<Refused> {
  const certificate = certificateOf(state.point, [0, 1])
  const proof: readonly ProofItem[] = JSON.parse(state.prove(request))
  const withProof = (items: readonly ProofItem[]) =>
    encodeDocument(certificate, JSON.stringify(items))
  const replaced = (kind: string, by: (item: never) => readonly ProofItem[]) => {
    const index = proof.findIndex((item) => typeof item === kind)
    return withProof(proof.toSpliced(index, 1, ...by(proof[index] as never)))
  }
  yield ['an empty proof of a state that is not empty', withProof([])]
  yield [
    'the root alone',
    withProof([Buffer.from(state.point.stateRoot, 'hex').toString('base64')]),
  ]
  yield ['an item too few', withProof(proof.slice(0, -1))]
  yield ['an item too many', withProof([...proof, 7])]
  yield ['the proof twice', withProof([...proof, ...proof])]
  yield ['another bit', replaced('number', (bit: number) => [bit + 1])]
  yield ['a bit below zero', replaced('number', () => [-1])]
  yield ['another hash', replaced('string', () => [`${'A'.repeat(43)}=`])]
  yield [
    'another expiry',
    replaced('object', (leaf: object) => [{ ...leaf, expires_at: LATER + 1 } as ProofItem]),
  ]
  yield [
    'a leaf that never expires',
    replaced('object', (leaf: object) => [{ ...leaf, expires_at: null } as ProofItem]),
  ]
  yield [
    'another key',
    replaced('object', (leaf: { key: string[] }) => [
      { ...leaf, key: leaf.key.with(1, 'eve') } as never,
    ]),
  ]
  yield [
    'another value',
    replaced('object', (leaf: { value: string }) => [
      { ...leaf, value: leaf.value.replace('alice', 'eve') } as never,
    ]),
  ]
  yield [
    'the hash of the value in its place',
    replaced(
      'object',
      ({ expires_at, key, value }: { expires_at: number; key: string[]; value: string }) => [
        { expires_at, key, value_hash: Buffer.from(sha256(utf8(value))).toString('base64') },
      ],
    ),
  ]
  const stolen = stateOf([...LEAVES.slice(7), ...entryLeaves('alice.unverified.ns', EVE, LATER)])
  yield [
    'the proof of a state that nobody signed',
    encodeDocument(certificate, stolen.prove(request)),
  ]
  yield [
    'the proof of an absence in a state without the name',
    encodeDocument(certificate, stateOf(LEAVES.slice(7)).prove(request)),
  ]
  for (const name of ['alicf.unverified.ns', 'eve.unverified.ns'])
    yield [
      `the proof of another name, ${name}`,
      encodeDocument(certificate, state.prove(byName(name))),
    ]
}

/** Proofs of other ranges than the request asks for, each with its request. */
function* refusedRanges(): Generator<Refused> {
  const certificate = certificateOf(state.point, [0, 1])
  const proofs: readonly (readonly [string, CanonicalRequest, CanonicalRequest, number?])[] = [
    [
      'a value of what has expired',
      byName('bobby.unverified.ns'),
      byName('bobby.unverified.ns'),
      T - 1,
    ],
    [
      'no value of what has not expired',
      byName('carol.unverified.ns'),
      byName('carol.unverified.ns'),
      T + 1,
    ],
    ['a longer name', byName('bob'), page(1, null, 'bob')],
    ['a page that shows no leaf behind it', page(2, null, ''), page(1, null, '')],
    ['a page that shows more than the leaf behind it', page(2, null, ''), page(3, null, '')],
    ['the first page for the next', page(2, 'alicf.unverified.ns', ''), page(2, null, '')],
    ['the next page for the first', page(2, null, ''), page(2, 'alicf.unverified.ns', '')],
    ['a longer prefix', page(10, null, 'bob'), page(10, null, 'bobb')],
    ['a shorter prefix', page(10, null, 'bobb'), page(10, null, 'bob')],
    ['a member by its key of parties', byParty(MEMBER), byParty(`sv-2::1220${'0'.repeat(64)}`)],
    ['the operator by the name of a member', byParty(genesis.dso), byParty(MEMBER)],
    ['a name for a party', byParty(ALICE), byName('alice.unverified.ns')],
    ['one lookup of a batch', BATCH, byName('bob.unverified.ns')],
    ['a proof where none is needed', byName('x\0'), byName('alice.unverified.ns')],
    [
      'the names of a member without its own',
      page(10, null, MEMBER, true),
      page(10, 'sv-2.sv.ns', MEMBER, true),
    ],
    [
      'other rules',
      { operation: 'getDso', parameters: { shared: true } },
      { operation: 'listScans', parameters: {} },
    ],
  ]
  for (const [why, request, shown, at] of proofs)
    yield [why, encodeDocument(certificate, state.prove(shown, at)), request]
  const next = page(2, 'alicf.unverified.ns', '')
  const later = stateOf(LEAVES, 43)
  yield [
    'a next page at another offset than the first',
    encodeDocument(certificateOf(later.point, [0, 1]), later.prove(next)),
    next,
  ]
  // Nothing that honest members sign: entries under keys of others.
  const value = (name: string, user: string) => JSON.stringify({ name, user })
  for (const [why, key, text, request] of [
    ['an entry with another name than its key', ['n', 'a', '00'], value('b', ALICE), byName('a')],
    [
      'an entry with another user than its key',
      ['p', ALICE, 'a', '00'],
      value('a', EVE),
      byParty(ALICE),
    ],
    [
      'an entry of the operator that is of somebody else',
      ['n', 'dso.ns', ''],
      value('dso.ns', EVE),
      byParty(genesis.dso),
    ],
    ['an entry that is no JSON', ['n', 'a', '00'], 'a', byName('a')],
  ] as const) {
    const odd = stateOf([leafOf(key, text, null)])
    yield [why, encodeDocument(certificateOf(odd.point, [0, 1]), odd.prove(request)), request]
  }
}

/** The text of `certified.json`, a vector a line. */
export async function buildCertified(): Promise<string> {
  const verifier = createCertifiedVerifier({ ...network, crypto: createWebCrypto() })
  const vectors: Vector[] = []
  for (const one of provenDocuments()) {
    const question = questionOf(one.request, network)
    const { answer, signers } = await verifier.verify(one.document, question, one.signers)
    vectors.push({ ...one, answer: answer as Json, signed_by: signers })
  }
  for (const [name, document, request = byName('alice.unverified.ns')] of refusedDocuments())
    vectors.push({ name, request, signers: 2, document, refuse: true })
  return [
    `{"genesis":${JSON.stringify(genesisText)},"vectors":[`,
    vectors.map((vector) => JSON.stringify(vector)).join(',\n'),
    ']}\n',
  ].join('\n')
}
