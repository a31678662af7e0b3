/**
 * Evidence (D-43): two statements of one key that exclude each other. Every reader can verify it. A vote that differs from
 * the decision is not evidence, because it may come from lag or a fault; two signatures are a lie.
 */

import type { CryptoPort } from '../crypto/crypto.ts'
import { createPlatformCrypto } from '../crypto/platform-crypto.ts'
import { bytesEqual, fromHex, toHex } from '../encoding/bytes.ts'
import { membersOf } from '../encoding/members-of.ts'
import type { Genesis } from '../genesis/genesis.ts'
import { hashGenesis } from '../genesis/genesis-hash.ts'
import { memberSetOf } from '../genesis/member-set.ts'
import { type BlockVote, chainIdOf, readBlockVote } from './block-vote.ts'
import { STATEMENT_TAGS } from './statements.ts'

/** A statement's bytes and its signature, in lower-case hex. */
export type SignedStatement = { readonly statement: string; readonly signature: string }

export type Evidence = {
  /** Name in the genesis, or `synchronizer`. */
  readonly signer: string
  readonly statements: readonly [SignedStatement, SignedStatement]
}

export class EvidenceError extends Error {
  override readonly name = 'EvidenceError'
}

/** The subject of two statements that exclude each other. */
export type ProvenEvidence = { readonly signer: string } & About

type About =
  | { readonly kind: StatementKind; readonly offset: number }
  | ({ readonly kind: 'vote' } & Pick<BlockVote, 'height' | 'round' | 'step'>)

// The bytes after tag and genesis hash. They begin with the offset.
const OFFSET_BYTES = 8
const HASH_BYTES = 32
const POINT_BYTES = 2 * OFFSET_BYTES + HASH_BYTES
const BYTE_COUNTS = {
  state: POINT_BYTES + HASH_BYTES,
  snapshot: POINT_BYTES + HASH_BYTES,
  logGroup: 2 * OFFSET_BYTES + 2 * HASH_BYTES,
} as const

export const SYNCHRONIZER = 'synchronizer'

/**
 * Verifies evidence: both signatures are by the signer's key of this genesis, and the statements have
 * the same tag, genesis and offset, and different content; or they are votes for different blocks in one step.
 *
 * @throws {EvidenceError} With what is missing.
 */
export async function verifyEvidence(
  evidence: Evidence,
  options: { readonly genesis: Genesis; readonly crypto?: CryptoPort },
): Promise<ProvenEvidence> {
  const { crypto = createPlatformCrypto() } = options
  // Copies, so that the result is what was checked, even if the caller changes its objects.
  const genesis = structuredClone(options.genesis)
  const { signer, statements } = membersOf(structuredClone(evidence)) as Evidence
  // Evidence may come from a file. The checks below cover its parts.
  check(Array.isArray(statements) && statements.length === 2, 'there are not two statements')
  const genesisHash = await hashGenesis(genesis, crypto)
  const bytes = statements.map((signed) => parseHex(signed?.statement, 'a statement'))
  const [first, second] = bytes as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>]
  const subject = subjectOf(first, genesisHash)
  const other = subjectOf(second, genesisHash)
  const { about } = subject
  check(about.kind === other.about.kind, 'the statements are of different kinds')
  check(
    JSON.stringify(about) === JSON.stringify(other.about),
    'the statements are about different things',
  )
  check(!bytesEqual(subject.content, other.content), 'the statements are the same')
  const publicKey = fromHex(keyOf(signer, about.kind, genesis))
  for (const [index, { signature }] of statements.entries()) {
    const message = bytes[index] as Uint8Array<ArrayBuffer>
    const signed = { publicKey, message, signature: parseHex(signature, 'a signature') }
    check(await crypto.verifyEd25519(signed), `signature ${index + 1} does not verify`)
  }
  return { signer, ...about }
}

type StatementKind = keyof typeof BYTE_COUNTS

/** The subject of a statement, and its content. */
type Subject = { readonly about: About; readonly content: Uint8Array }

function subjectOf(statement: Uint8Array<ArrayBuffer>, genesisHash: string): Subject {
  const vote = readBlockVote(statement)
  if (vote !== null) {
    const { chainId, height, round, step, block } = vote
    check(chainId === chainIdOf(genesisHash), 'a vote is from another network')
    return { about: { kind: 'vote', height, round, step }, content: block }
  }
  const tagEnd = statement.indexOf(0)
  const tag = new TextDecoder().decode(statement.subarray(0, Math.max(tagEnd, 0)))
  const kind = (Object.keys(BYTE_COUNTS) as StatementKind[]).find(
    (one) => STATEMENT_TAGS[one] === tag,
  )
  check(kind !== undefined, 'a tag is unknown')
  const fields = statement.subarray(tagEnd + 1 + HASH_BYTES)
  check(fields.byteLength === BYTE_COUNTS[kind], 'a statement has the wrong length')
  const genesis = toHex(statement.subarray(tagEnd + 1, tagEnd + 1 + HASH_BYTES))
  check(genesis === genesisHash, 'a statement is from another network')
  const offset = Number.parseInt(toHex(fields.subarray(0, OFFSET_BYTES)), 16)
  return { about: { kind, offset }, content: fields.subarray(OFFSET_BYTES) }
}

function keyOf(signer: string, kind: About['kind'], genesis: Genesis): string {
  if (kind === 'vote') {
    check(genesis.ordering.driver === 'cometbft', 'no member votes for blocks in this network')
    const member = genesis.ordering.validators.find(({ name }) => name === signer)
    check(member !== undefined, 'the signer has no vote in this network')
    return member.key
  }
  if (kind === 'logGroup') {
    check(signer === SYNCHRONIZER, 'only the synchronizer signs log groups')
    check(genesis.ordering.driver === 'redis', 'no synchronizer signs log groups in this network')
    return genesis.ordering.key
  }
  const node = memberSetOf(genesis).members.find(({ name }) => name === signer)
  check(node !== undefined, 'the signer is not a node of the network')
  return node.scanKey
}

function parseHex(text: unknown, what: string): Uint8Array<ArrayBuffer> {
  check(typeof text === 'string' && /^(?:[0-9a-f]{2})+$/.test(text), `${what} is not hex`)
  return fromHex(text)
}

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new EvidenceError(message)
}

/** Pieces stored of one signer: so many first ones, and so many last ones (D-43). */
const EVIDENCE_MAX = 16

/**
 * Evidence of each signer: the first and last 16 pieces, in the order in which they were added.
 *
 * @param known - The list of an earlier log, in its order.
 */
export function createEvidenceLog(known: readonly Evidence[] = []) {
  const evidenceBySigner = new Map<string, { first: Evidence[]; last: Evidence[] }>()
  const log = {
    /** Returns whether it is new: a signer that repeats its lie does not displace earlier evidence. */
    add(evidence: Evidence): boolean {
      const { first, last } = evidenceBySigner.get(evidence.signer) ?? { first: [], last: [] }
      const [one, other] = evidence.statements
      const isKnown = [...first, ...last].some(
        ({ statements: [earlier, contradiction] }) =>
          earlier.statement === one.statement && contradiction.statement === other.statement,
      )
      if (isKnown) return false
      evidenceBySigner.set(evidence.signer, { first, last })
      if (first.length < EVIDENCE_MAX) first.push(evidence)
      else last.push(evidence)
      if (last.length > EVIDENCE_MAX) last.shift()
      return true
    },
    list: (): Evidence[] =>
      [...evidenceBySigner.values()].flatMap(({ first, last }) => [...first, ...last]),
  }
  for (const evidence of known) log.add(evidence)
  return log
}
