/** States of a name service from a plain list of entries: what verified answers have to equal. */
import { compareKeys } from '../../proof/bits.ts'
import { prune } from '../../proof/prune.ts'
import { encodeProof, joinProofs, type ProofItem } from '../../proof/range-proof.ts'
import {
  buildNaiveTree,
  leafOf,
  type NaiveNode,
  naiveReader,
  naiveRootHash,
  sha256,
  type ValuedLeaf,
} from '../../proof/testing/naive-tree.ts'
import type { CanonicalRequest, Lookup } from '../../statements/canonical-request.ts'
import type { StatePoint } from '../../statements/statements.ts'
import type { CertifiedEntry, RangeQuery } from '../query.ts'
import type { TestNetwork } from './network.ts'

export type WorldEntry = {
  readonly name: string
  readonly user: string
  /** In µs; null for the entries of the operator and the members, which have no contract either. */
  readonly expiresAt: number | null
}

export type World = {
  readonly leaves: readonly ValuedLeaf[]
  readonly entries: readonly WorldEntry[]
  readonly point: StatePoint
}

/** The bytes that stand for an entry in the tree. */
export function entryValueOf(entry: WorldEntry): CertifiedEntry {
  return {
    contract_id: entry.expiresAt === null ? null : contractIdOf(entry),
    user: entry.user,
    name: entry.name,
    url: '',
    description: `"${entry.name}"`,
    expires_at: entry.expiresAt === null ? null : `${entry.expiresAt}`,
  }
}

function contractIdOf(entry: WorldEntry): string {
  const text = JSON.stringify([entry.name, entry.user, entry.expiresAt])
  return `00${Buffer.from(sha256(Buffer.from(text))).toString('hex')}`
}

export function partyOfMember(network: TestNetwork, index: number): string {
  const { name, operatorKey } = network.genesis.nodes[index] as {
    name: string
    operatorKey: string
  }
  const hash = Buffer.from(sha256(Buffer.from(operatorKey, 'hex'))).toString('hex')
  return `${name}::1220${hash}`
}

function syntheticEntries(network: TestNetwork): readonly WorldEntry[] {
  return [
    { name: 'dso.ns', user: network.genesis.dso, expiresAt: null },
    ...network.genesis.nodes.map(({ name }, index) => ({
      name: `${name}.sv.ns`,
      user: partyOfMember(network, index),
      expiresAt: null,
    })),
  ]
}

export const NETWORK_VALUES = {
  dso: '{"dso_party_id":"it"}',
  'ans-rules': '{"ans_rules_update":null}',
  scans: '{"scans":[]}',
}

/** @param owned - Entries with a contract; no two of one name are visible at once. */
export function createWorld(
  network: TestNetwork,
  owned: readonly WorldEntry[],
  at: { readonly offset: number; readonly recordTime: number },
): World {
  const entries = [...syntheticEntries(network), ...owned]
  const leaves = [
    ...entries.flatMap((entry) => {
      const value = JSON.stringify(entryValueOf(entry))
      const { name, user, expiresAt } = entry
      if (expiresAt === null) return [leafOf(['n', name, ''], value)]
      const id = contractIdOf(entry)
      return [
        leafOf(['n', name, id], value, expiresAt),
        leafOf(['p', user, name, id], value, expiresAt),
      ]
    }),
    ...Object.entries(NETWORK_VALUES).map(([key, value]) => leafOf(['c', key], value)),
    leafOf(['m'], '{"members":[]}'),
  ]
  return { leaves, entries, point: pointOf(leaves, at) }
}

export function pointOf(
  leaves: readonly ValuedLeaf[],
  at: { readonly offset: number; readonly recordTime: number },
): StatePoint {
  const stateRoot = Buffer.from(naiveRootHash(leaves)).toString('hex')
  return { ...at, historyHash: 'ab'.repeat(32), stateRoot }
}

const treeByLeaves = new WeakMap<readonly ValuedLeaf[], NaiveNode | null>()

/** The tree of a list of leaves that is not changed any more. */
export function treeOf(leaves: readonly ValuedLeaf[]): NaiveNode | null {
  const known = treeByLeaves.get(leaves)
  if (known !== undefined) return known
  const tree = buildNaiveTree(leaves)
  treeByLeaves.set(leaves, tree)
  return tree
}

/** What an honest node that has these leaves proves. */
export function proofOf(
  leaves: readonly ValuedLeaf[],
  { ranges }: Pick<RangeQuery<unknown>, 'ranges'>,
  at: number,
  pruneTree: typeof prune = prune,
): readonly ProofItem[] {
  const root = treeOf(leaves)
  const proofs = ranges.map((range) => {
    const pruned = root && pruneTree(naiveReader, root, { ...range, at })
    return encodeProof(pruned, (leaf) => (leaf as ValuedLeaf).value)
  })
  return JSON.parse(joinProofs(proofs))
}

/** The answer as it follows from the list of entries. */
export function answerOf(
  { entries, point }: World,
  { operation, parameters }: CanonicalRequest,
  genesisHash: string,
): unknown {
  const visible = entries
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > point.recordTime)
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
  const byName = (name: string) => visible.filter((entry) => entry.name === name)
  const byParty = (party: string) => visible.filter(({ user }) => user === party)
  const first = ([entry]: readonly WorldEntry[]) =>
    entry === undefined ? null : entryValueOf(entry)
  const lookUp = (lookup: Lookup) => {
    if ('name' in lookup) return first(byName(lookup.name))
    const all = byParty(lookup.party)
    return first([...all.filter(({ expiresAt }) => expiresAt === null), ...all])
  }
  const page = (list: string, all: readonly WorldEntry[]) => {
    const token = parameters['page_token'] as string | null
    const after =
      token === null ? null : Buffer.from(token, 'base64url').subarray(8, -16).toString('utf8')
    const rest = all.filter(
      ({ name }) => after === null || compareKeys(Buffer.from(name), Buffer.from(after)) > 0,
    )
    const shown = rest.slice(0, parameters['page_size'] as number)
    const last = shown.at(-1)
    const isLast = shown.length === rest.length || last === undefined
    return {
      entries: shown.map(entryValueOf),
      next_page_token: isLast ? null : tokenOf(genesisHash, list, point.offset, last.name),
    }
  }
  switch (operation) {
    case 'getEntryByName':
    case 'getEntryByParty':
      return lookUp(parameters as unknown as Lookup)
    case 'lookupEntries':
      return (parameters['lookups'] as unknown as readonly Lookup[]).map(lookUp)
    case 'listEntries': {
      const prefix = parameters['name_prefix'] as string
      return page(
        `prefix\0${prefix}`,
        visible.filter(({ name }) => name.startsWith(prefix)),
      )
    }
    case 'listEntriesByParty': {
      const party = parameters['party'] as string
      return page(`party\0${party}`, byParty(party))
    }
    case 'getDso':
      return JSON.parse(NETWORK_VALUES.dso)
    case 'getAnsRules':
      return JSON.parse(NETWORK_VALUES['ans-rules'])
    case 'listScans':
      return JSON.parse(NETWORK_VALUES.scans)
  }
  throw new Error(`no such request: ${operation}`)
}

/** A page token by its definition in docs/certified-reads.md. */
export function tokenOf(genesisHash: string, list: string, offset: number, after: string): string {
  const content = Buffer.concat([Buffer.alloc(8), Buffer.from(after)])
  content.writeBigUInt64BE(BigInt(offset))
  const checksum = sha256(
    Buffer.concat([
      Buffer.from('quorumscan/page/1\0'),
      Buffer.from(genesisHash, 'hex'),
      sha256(Buffer.from(list)),
      content,
    ]),
  ).subarray(0, 16)
  return Buffer.concat([content, checksum]).toString('base64url')
}
