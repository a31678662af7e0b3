/** States of the vectors of certified reads, and proofs of honest and dishonest nodes. */
import { type KeyPair, sha256, toHex, utf8 } from '@quorumscan/base'
import {
  type CanonicalRequest,
  canonicalJson,
  encodeStateStatement,
  type Json,
  requestOfActivities,
  type StatePoint,
} from '@quorumscan/verifier'
import {
  activityTree,
  encodeCertificate,
  encodeDocument,
  encodeProof,
  formatPageToken,
  joinActivitiesProof,
  joinProofs,
  type KeyRange,
  type MemberSignature,
  type Pruned,
  prune,
  queryOf,
} from '@quorumscan/verifier/certified'
import { createStateTree, keyOf, type Leaf } from '@quorumscan/verifier/state-tree'
import { genesis, genesisHash, keyPairs } from './build.ts'
import { historyOf } from './history.ts'

export const T = 1_700_000_000_123_456
export const LATER = T + 1_000_000
export const OFFSET = 42
const HISTORY_HASH = 'cd'.repeat(32)
export const network = { genesis, genesisHash, sha256 }

const partyOf = (hint: string, digit: string) => `${hint}::1220${digit.repeat(64)}`
export const [ALICE, BOB, EVE] = [
  partyOf('alice', 'a'),
  partyOf('bob', 'b'),
  partyOf('eve', 'e'),
] as const
const memberParty = (index: number) => {
  const { name, operatorKey } = genesis.nodes[index] as (typeof genesis.nodes)[number]
  return `${name}::1220${toHex(sha256(Buffer.from(operatorKey, 'hex')))}`
}
export const MEMBER = memberParty(1)

export type VectorLeaf = Leaf & { readonly value: string }

export function leafOf(
  key: readonly string[],
  value: string,
  expiresAt: number | null = null,
): VectorLeaf {
  return { key: keyOf(key), expiresAt, value, valueHash: sha256(utf8(value)) }
}

export function entryLeaves(name: string, user: string, expiresAt: number | null): VectorLeaf[] {
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
export const HISTORY = historyOf([
  T - RETENTION - 5,
  T - RETENTION - 5,
  T - RETENTION,
  T - RETENTION + 1,
  T - 2,
  T - 2,
  T,
])

export const LEAVES: readonly VectorLeaf[] = [
  ...entryLeaves('dso.ns', genesis.dso, null),
  ...genesis.nodes.flatMap(({ name }, index) =>
    entryLeaves(`${name}.sv.ns`, memberParty(index), null),
  ),
  ...entryLeaves('alice.unverified.ns', ALICE, LATER),
  ...entryLeaves('alicf.unverified.ns', ALICE, LATER),
  // A name that expires at the record time is gone; its successor exists.
  ...entryLeaves('bob.unverified.ns', ALICE, T),
  ...entryLeaves('bob.unverified.ns', BOB, LATER),
  ...entryLeaves('bobby.unverified.ns', BOB, T),
  ...entryLeaves('carol.unverified.ns', BOB, T + 1),
  ...entryLeaves('carol\u0001', BOB, LATER),
  ...entryLeaves('é\uffff', BOB, LATER),
  ...entryLeaves('é😀', BOB, LATER),
  ...entryLeaves('zed.unverified.ns', MEMBER, LATER),
  leafOf(['c', 'dso'], canonicalJson({ dso_party_id: genesis.dso })),
  leafOf(['c', 'ans-rules'], canonicalJson({ ans_rules_update: null })),
  leafOf(['c', 'scans'], canonicalJson({ scans: [] })),
  leafOf(['m'], canonicalJson({ members: [] })),
  leafOf(['a'], HISTORY.tree),
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

const textOf = (leaf: Leaf) => (leaf as VectorLeaf).value

export type State = ReturnType<typeof stateOf>

/** A state, and functions that prove parts of it. */
export function stateOf(leaves: readonly VectorLeaf[], offset = OFFSET) {
  const { tree, version } = treeOf(leaves)
  const point: StatePoint = {
    offset,
    recordTime: T,
    historyHash: HISTORY_HASH,
    stateRoot: toHex(version.rootHash),
  }
  /** The proof of an honest node for ranges, at the record time `at`. */
  const proveRanges = (ranges: readonly KeyRange[], at = T): string =>
    joinProofs(
      ranges.map((range) => {
        const pruned = version.root === null ? null : prune(tree, version.root, { ...range, at })
        return encodeProof(pruned, textOf)
      }),
    )
  const prove = (request: CanonicalRequest, at = T): string => {
    const stateQuery = queryOf(request, network)
    return proveRanges('ranges' in stateQuery ? stateQuery.ranges : [activityTree()], at)
  }
  /**
   * A proof that shows one path from the root. Each letter is the side to show at an inner node (`L` or `R`). A
   * lower-case letter also shows the other child as a leaf, not only its hash. The path ends at a leaf, or at the hash
   * of a node.
   */
  const showPath = (path: string, isValueShown = false): string => {
    type Node = NonNullable<typeof version.root>
    const hashOnly = (node: Node): Pruned => ({ kind: 'hash', hash: tree.hash(node) })
    const show = (node: Node, at: number): Pruned => {
      const opened = tree.open(node)
      if ('key' in opened) return { kind: 'leaf', leaf: opened, isVisible: isValueShown }
      const side = path[at]
      if (side === undefined) return hashOnly(node)
      const { bit, left, right } = opened
      const isOtherShown = side === side.toLowerCase()
      const other = (child: Node) => (isOtherShown ? show(child, path.length) : hashOnly(child))
      return side.toUpperCase() === 'L'
        ? { kind: 'inner', bit, left: show(left, at + 1), right: other(right) }
        : { kind: 'inner', bit, left: other(left), right: show(right, at + 1) }
    }
    if (version.root === null) throw new Error('the tree is empty')
    return `[${encodeProof(show(version.root, 0), textOf)}]`
  }
  return { point, prove, proveRanges, showPath }
}

export const state = stateOf(LEAVES)

export type Signers = readonly number[]

export function statementOf(point: StatePoint, ofNetwork = genesisHash) {
  return encodeStateStatement({ ...point, genesisHash: ofNetwork })
}

export function certificateOf(
  point: StatePoint,
  signers: Signers = [0, 1],
  ofNetwork = genesisHash,
): string {
  const signatures = signers.map((index) => {
    const signature = (keyPairs[index] as KeyPair).sign(statementOf(point, ofNetwork))
    return [`sv-${index + 1}`, toHex(signature)] as const satisfies MemberSignature
  })
  return encodeCertificate({ ...point, genesisHash: ofNetwork, signatures })
}

export const CERTIFICATE = certificateOf(state.point)

/** A document with a certificate of two members. */
export function documentOf(ofState: State, proof: string): string {
  return encodeDocument(certificateOf(ofState.point), proof)
}

/** The request whose proof every page of activities contains. */
export const ACTIVITY_TREE_REQUEST = requestOfActivities({ page_size: 1 })

export function activitiesDocument(
  run: object,
  {
    ofState = state,
    signers = [0, 1],
  }: { readonly ofState?: State; readonly signers?: Signers } = {},
): string {
  const proof = joinActivitiesProof(
    JSON.stringify(run),
    ofState.prove(ACTIVITY_TREE_REQUEST).slice(1, -1),
  )
  return encodeDocument(certificateOf(ofState.point, signers), proof)
}

// Requests.

export const byName = (name: string) => ({ operation: 'getEntryByName', parameters: { name } })
export const byParty = (party: string) => ({ operation: 'getEntryByParty', parameters: { party } })
export const DSO = { operation: 'getDso', parameters: { shared: true } }
export const SCANS = { operation: 'listScans', parameters: {} }

export const subjectOf = (list: string, isByParty: boolean) =>
  isByParty
    ? ({ kind: 'party', party: list } as const)
    : ({ kind: 'prefix', prefix: list } as const)

/** @param after - The last name of the previous page. */
export const page = (size: number, after: string | null, list: string, isByParty = false) =>
  pageOfToken(
    size,
    after && formatPageToken(network, subjectOf(list, isByParty), { after, offset: OFFSET }),
    list,
    isByParty,
  )

export const pageOfToken = (
  size: Json,
  token: string | null,
  list: string,
  isByParty = false,
): CanonicalRequest => ({
  operation: isByParty ? 'listEntriesByParty' : 'listEntries',
  parameters: {
    ...(isByParty ? { party: list } : { name_prefix: list }),
    page_size: size,
    page_token: token,
  },
})

export const BATCH = {
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
