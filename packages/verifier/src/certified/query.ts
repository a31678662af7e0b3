/** Queries of the certified state: which leaves a request needs, and the answer that they give. */
import { utf8 } from '../encoding/bytes.ts'
import type { Json } from '../encoding/canonical-json.ts'
import { LONE_SURROGATE } from '../encoding/lone-surrogate.ts'
import type { ProvenRow } from '../proof/activity-run.ts'
import { InvalidProof } from '../proof/invalid-proof.ts'
import type { KeyRange } from '../proof/prune.ts'
import type { ProvenLeaf } from '../proof/range-proof.ts'
import type { Sha256 } from '../proof/tree-hash.ts'

/**
 * A request as ranges of the state tree. The node that proves and the reader that verifies derive them from the request
 * alone.
 */
export type RangeQuery<Answer> = {
  /** Empty if the request names nothing that can have a key: then no proof is needed. */
  readonly ranges: readonly KeyRange[]
  /** The only offset at which a walk continues; null if it may be any. */
  readonly offset: number | null
  /**
   * The answer that visible leaves amount to, those of each range in order.
   *
   * @throws {InvalidProof} If such a key cannot have them.
   */
  answer(runs: readonly (readonly ProvenLeaf[])[], offset: number): Answer
}

/** A state as its certificate gives it, and what it is read with. */
export type CertifiedState = {
  readonly root: Uint8Array
  readonly offset: number
  /** Record time, in µs. */
  readonly at: number
  readonly sha256: Sha256
}

/** Which rows of the activity history: at most `pageSize` next to one, in one direction. */
export type ActivitiesPage = {
  /** 1 or more. */
  readonly pageSize: number
  /** An event id as exclusive bound, below the page for `asc`, above it for `desc`; null: none. */
  readonly after: string | null
  /** Oldest first, or newest first. */
  readonly order: 'asc' | 'desc'
  /** Offset of the page before in the same walk; a state before it is refused. Default: any. */
  readonly offsetMin?: number
}

/** A request for rows of the activity history, of whose tree the state has size and root. */
export type RowsQuery<Answer> = {
  readonly offset: null
  readonly page: ActivitiesPage
  /** @throws {InvalidProof} If it does not prove an answer. */
  verify(proof: string, state: CertifiedState): Answer
  /** The answer that rows amount to which are known to be the page, oldest first. @throws {InvalidProof} As `verify`. */
  answer(rows: readonly ProvenRow[]): Answer
}

export type StateQuery<Answer> = RangeQuery<Answer> | RowsQuery<Answer>

/** A name entry as lookups answer it. */
export type CertifiedEntry = {
  /** Null for the entries of the operator and the super-validators, as `expires_at`. */
  readonly contract_id: string | null
  readonly user: string
  readonly name: string
  readonly url: string
  readonly description: string
  readonly expires_at: string | null
}

/** Whether the text can be a component of a key: U+0000 separates components, and keys are UTF-8. */
export function canBeInKey(text: string): boolean {
  return !text.includes('\0') && !LONE_SURROGATE.test(text)
}

/** All keys that begin with these components, up to the `limit`-th visible leaf. */
export function rangeUnder(components: readonly string[], limit: number): KeyRange {
  const beginning = components.join('\0')
  return { from: utf8(`${beginning}\0`), to: utf8(`${beginning}\x01`), limit }
}

/**
 * The entry of a leaf.
 *
 * @throws {InvalidProof} If name or user of the entry are not those of the key.
 */
export function entryOf({ key, value }: ProvenLeaf): CertifiedEntry {
  const entry = parseValue(value) as CertifiedEntry | null
  const [kind, ...components] = key
  const [name, user] = kind === 'p' ? [components[1], components[0]] : [components[0], entry?.user]
  if (entry?.name === name && entry?.user === user && typeof user === 'string')
    return entry as CertifiedEntry
  throw new InvalidProof('NOT_PROVEN', 'an entry has a key that is not its own')
}

/** @throws {InvalidProof} If it is not JSON. */
export function parseValue(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch (cause) {
    throw new InvalidProof('NOT_PROVEN', 'a value is not JSON', { cause })
  }
}

/** Answers about the network that are the same on all nodes: operator and rules, rules of names, addresses. */
export type NetworkValue = 'dso' | 'ans-rules' | 'scans'

/** The answer of the endpoint; null if the state has no such leaf. The state of a real network always has it. */
export function networkQuery(value: NetworkValue): RangeQuery<Json> {
  return {
    ranges: [rangeUnder(['c', value], 1)],
    offset: null,
    answer: ([run = []]) => (run[0] === undefined ? null : (parseValue(run[0].value) as Json)),
  }
}
