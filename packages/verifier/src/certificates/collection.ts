/**
 * Makes certificates of a node or a validator: combines the states that the local replica computed with the
 * statements of members. Deterministic, without I/O or a clock: `step` updates the collection and returns effects. The
 * driver owns keys, connections and alarms.
 *
 * If f + 1 other members signed another state, the local replica is wrong, since at most f members lie. From then on it
 * signs and certifies nothing, until an operator has repaired it.
 */

import { toHex } from '../encoding/bytes.ts'
import { memberSetOf } from '../genesis/member-set.ts'
import type { Evidence, SignedStatement } from '../statements/evidence.ts'
import { encodeStateStatement, type StatePoint } from '../statements/statements.ts'
import {
  type Certificate,
  combineCertificates,
  isSameHistory,
  isSamePoint,
  type Network,
} from './certificate.ts'

/** Stored offsets of the local replica, and stored statements of each member: some 13 s at five a second. */
export const STATES_MAX = 64

/** A statement of one member, whose signature was verified. */
export type SignedState = StatePoint & { readonly member: string; readonly signature: string }

export type CollectionEvent =
  /** The local replica's states at certifiable offsets that it crossed, ascending. */
  | { readonly kind: 'computed'; readonly points: readonly StatePoint[] }
  /** The statement of any member, including this node. */
  | { readonly kind: 'signed'; readonly state: SignedState }

/** Why the local replica is wrong. */
export type Divergence = {
  /** LOG_FORK: it followed another log. STATE_DIVERGED: it applied the same log to another state. */
  readonly code: 'LOG_FORK' | 'STATE_DIVERGED'
  readonly own: StatePoint
  /** The state that at least f + 1 other members signed. */
  readonly others: Certificate
}

export type CollectionEffect =
  /** The driver signs the point with the key of the node, and reports the signature as an event. */
  | { readonly kind: 'sign'; readonly point: StatePoint }
  /** A certificate exists, or gained a signer. */
  | { readonly kind: 'certified'; readonly certificate: Certificate }
  /** Reported once. */
  | { readonly kind: 'diverged'; readonly divergence: Divergence }
  | { readonly kind: 'evidence'; readonly evidence: Evidence }

/** The stored points, statements and certificates. Their number is bounded for any input. */
export type Collection = {
  readonly network: Network
  /** Member whose key the node has; null: a validator, which signs nothing. */
  readonly self: string | null
  /** By offset, ascending. */
  readonly points: Map<number, StatePoint>
  /** By member and offset. */
  readonly states: ReadonlyMap<string, Map<number, SignedState>>
  /** By offset: the certificates of points that enough members signed. */
  readonly certificates: Map<number, Certificate>
  divergence: Divergence | null
}

export function createCollection(network: Network, self: string | null): Collection {
  const states = new Map(memberSetOf(network.genesis).members.map(({ name }) => [name, new Map()]))
  const [points, certificates] = [new Map(), new Map()]
  return { network, self, points, states, certificates, divergence: null }
}

export function step(collection: Collection, event: CollectionEvent): readonly CollectionEffect[] {
  return event.kind === 'computed'
    ? addPoints(collection, event.points)
    : addState(collection, event.state)
}

/** The newest certificate with that many signers, f + 1 or more; null if none exists, or the replica diverged. */
export function newestCertificate(collection: Collection, signerCount: number): Certificate | null {
  for (const offset of [...collection.points.keys()].reverse()) {
    const certificate = certificateAt(collection, offset)
    if (certificate !== null && certificate.signatures.length >= signerCount) return certificate
  }
  return null
}

/** The certificate at a recent offset; null: too few members signed the state that the local replica has there. */
export function certificateAt(collection: Collection, offset: number): Certificate | null {
  return collection.divergence === null ? (collection.certificates.get(offset) ?? null) : null
}

/** The statements of a member after an offset, ascending. Other members poll those of this node. */
export function statesAfter(collection: Collection, member: string, offset: number) {
  const states = [...(collection.states.get(member)?.values() ?? [])]
  return states.filter((state) => state.offset > offset).sort((a, b) => a.offset - b.offset)
}

/** The members whose stored statements are of this state. */
export function signersOf(collection: Collection, point: StatePoint): ReadonlySet<string> {
  const equal = statesAt(collection, point.offset).filter((state) => isSamePoint(state, point))
  return new Set(equal.map(({ member }) => member))
}

/** Whether the statement is neither stored nor too old to be stored. */
export function isNewState(
  { states }: Collection,
  state: StatePoint & { readonly member: string },
): boolean {
  const ofMember = states.get(state.member)
  if (ofMember === undefined) return false
  const known = ofMember.get(state.offset)
  if (known !== undefined) return !isSamePoint(known, state)
  return ofMember.size < STATES_MAX || state.offset > Math.min(...ofMember.keys())
}

function addPoints(collection: Collection, points: readonly StatePoint[]) {
  const effects: CollectionEffect[] = []
  // A member that catches up signs only the offsets that others still store.
  for (const point of points.slice(-STATES_MAX)) {
    const last = [...collection.points.keys()].at(-1) ?? -1
    // A member cannot replace its statement for an offset.
    if (point.offset <= last) continue
    collection.points.set(point.offset, point)
    dropLowest(collection.points)
    effects.push(...evaluateOffset(collection, point.offset))
    if (collection.divergence === null && collection.self !== null)
      effects.push({ kind: 'sign', point })
  }
  return effects
}

function addState(collection: Collection, state: SignedState): readonly CollectionEffect[] {
  const ofMember = collection.states.get(state.member)
  if (ofMember === undefined) return []
  const known = ofMember.get(state.offset)
  if (known !== undefined) {
    if (isSamePoint(known, state)) return []
    const statements = [known, state].map((one) => statementOf(collection, one))
    const evidence = {
      signer: state.member,
      statements: statements as [SignedStatement, SignedStatement],
    }
    return [{ kind: 'evidence', evidence }]
  }
  ofMember.set(state.offset, state)
  // Each member has its own bound: claims of unreachable offsets displace only the member's own statements.
  dropLowest(ofMember)
  return ofMember.has(state.offset) ? evaluateOffset(collection, state.offset) : []
}

/** The effects of the known statements at an offset. */
function evaluateOffset(collection: Collection, offset: number): readonly CollectionEffect[] {
  const own = collection.points.get(offset)
  if (own === undefined || collection.divergence !== null) return []
  const divergence = findDivergence(collection, own)
  if (divergence !== null) {
    collection.divergence = divergence
    return [{ kind: 'diverged', divergence }]
  }
  const agreeing = statesAt(collection, offset).filter((state) => isSamePoint(state, own))
  const certificate = certify(collection, agreeing)
  if (certificate === null) return []
  collection.certificates.set(offset, certificate)
  dropLowest(collection.certificates)
  return [{ kind: 'certified', certificate }]
}

function findDivergence(collection: Collection, own: StatePoint): Divergence | null {
  const others = statesAt(collection, own.offset).filter(
    (state) => state.member !== collection.self && !isSamePoint(state, own),
  )
  for (const state of others) {
    const agreed = certify(
      collection,
      others.filter((other) => isSamePoint(other, state)),
    )
    if (agreed === null) continue
    const code = isSameHistory(agreed, own) ? 'STATE_DIVERGED' : 'LOG_FORK'
    return { code, own, others: agreed }
  }
  return null
}

/** A certificate of equal statements; null if there are less than f + 1. */
function certify({ network }: Collection, states: readonly SignedState[]): Certificate | null {
  const { genesis, genesisHash } = network
  if (states.length <= memberSetOf(genesis).f) return null
  const statements = states.map(({ member, signature, ...point }) => ({
    ...point,
    genesisHash,
    signatures: [[member, signature]] as const,
  }))
  return combineCertificates(statements as unknown as [Certificate, ...Certificate[]], genesis)
}

function statesAt({ states }: Collection, offset: number): readonly SignedState[] {
  return [...states.values()].flatMap((ofMember) => ofMember.get(offset) ?? [])
}

function statementOf({ network }: Collection, state: SignedState): SignedStatement {
  const statement = encodeStateStatement({ ...state, genesisHash: network.genesisHash })
  return { statement: toHex(statement), signature: state.signature }
}

function dropLowest(byOffset: Map<number, unknown>): void {
  if (byOffset.size > STATES_MAX) byOffset.delete(Math.min(...byOffset.keys()))
}
