/**
 * Documents that prove something, judged offline: a certified answer, or evidence (D-43), alone or the list that the
 * scan proxy gives. Reads no file, prints nothing.
 */
import {
  type CanonicalRequest,
  type Evidence,
  EvidenceError,
  type Genesis,
  type ProvenEvidence,
  parseStrictJson,
  verifyEvidence,
} from '@quorumscan/verifier'
import { InvalidProof as InvalidState } from '@quorumscan/verifier/certified'
import { judgeCertified, type ProvenState } from './certified-proof.ts'

export type Proven = ProvenState | { readonly kind: 'evidence'; readonly evidence: ProvenEvidence }

/** The document proves nothing; the message goes on from "invalid, because". */
export class InvalidProof extends Error {
  override readonly name = 'InvalidProof'
}

export type ProofOptions = {
  readonly genesis: Genesis
  /** What the answers must be to; null: whatever they say, for the reader to look at. */
  readonly request: CanonicalRequest | null
  /** Signers that are needed; f + 1 at least, whatever is said here. */
  readonly threshold: number
}

/** Everything that the document proves, in its order. @throws {InvalidProof} Unless all of it is proved. */
export async function judgeProof(text: string, options: ProofOptions): Promise<Proven[]> {
  const document = parse(text)
  try {
    const certified = await judgeCertified({ text, parsed: document }, options)
    if (certified !== null) return [certified]
    if (isRecord(document) && 'evidence' in document)
      return await Promise.all(
        listOf(document, 'evidence').map((piece) => judgeEvidence(piece, options)),
      )
    if (isRecord(document) && 'statements' in document)
      return [await judgeEvidence(document, options)]
    throw new InvalidProof('it is neither a certified answer nor evidence')
  } catch (error) {
    if (error instanceof InvalidState || error instanceof EvidenceError)
      throw new InvalidProof(error.message, { cause: error })
    throw error
  }
}

async function judgeEvidence(piece: unknown, options: ProofOptions): Promise<Proven> {
  if (options.request !== null) throw new InvalidProof('it is evidence, which answers no request')
  requireMembers(piece, ['signer', 'statements'], 'the evidence')
  // `verifyEvidence` looks into the rest.
  const evidence = await verifyEvidence(piece as unknown as Evidence, options)
  return { kind: 'evidence', evidence }
}

function parse(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'no JSON'
    throw new InvalidProof(`it cannot be read: ${why}`, { cause })
  }
}

function listOf(document: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  requireMembers(document, [name], 'the document')
  const list = document[name]
  if (!Array.isArray(list)) throw new InvalidProof(`${name} is no list`)
  if (list.length === 0) throw new InvalidProof(`${name} is empty, which proves nothing`)
  return list
}

function requireMembers(document: unknown, names: readonly string[], what: string): void {
  const members = isRecord(document) ? Object.keys(document).sort() : []
  if (members.join() !== names.join())
    throw new InvalidProof(`${what} does not have exactly the members ${names.join(', ')}`)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
