/**
 * Documents that prove something, judged offline: a certified answer (docs/certified-reads.md), as a node gave it, kept
 * with its request, or within what `resolve --json` prints; and evidence (D-43), alone or as the scan proxy lists it.
 * Reads no file, prints nothing.
 */
import { sha256 } from '@quorumscan/base'
import {
  type CanonicalRequest,
  createWebCrypto,
  type Evidence,
  EvidenceError,
  type Genesis,
  hashGenesis,
  type ProvenEvidence,
  parseStrictJson,
  verifyEvidence,
} from '@quorumscan/verifier'
import {
  type Certified,
  createCertifiedVerifier,
  InvalidProof as InvalidState,
  type ProvenLeaf,
  questionOf,
  showDocument,
} from '@quorumscan/verifier/certified'

type Members = Readonly<Record<string, unknown>>

export type ProvenState =
  | {
      readonly kind: 'certified'
      readonly request: CanonicalRequest
      readonly certified: Certified<unknown>
    }
  /** The request is unknown: leaves that are there, whatever else is. */
  | { readonly kind: 'shown'; readonly certified: Certified<readonly ProvenLeaf[]> }
export type Proven = ProvenState | { readonly kind: 'evidence'; readonly evidence: ProvenEvidence }

/** The document proves nothing; the message continues "invalid, because". */
export class InvalidProof extends Error {
  override readonly name = 'InvalidProof'
}

export type ProofOptions = {
  readonly genesis: Genesis
  /** What the answers must be to; null: whatever they say, for the reader to look at. */
  readonly request: CanonicalRequest | null
  /** Signers that are needed; at least f + 1, also where less is given here. */
  readonly threshold: number
}

/** Everything that the document proves, in its order. @throws {InvalidProof} Unless all of it is proved. */
export async function judgeProof(text: string, options: ProofOptions): Promise<Proven[]> {
  const parsed = parse(text)
  const members: Members = isRecord(parsed) ? parsed : {}
  try {
    if ('certificate' in members) return [await judgeState(text, options.request, options)]
    if (typeof Object(members['receipt']).document === 'string')
      return [requireShown(members, await judgeKept(Object(members['receipt']), options))]
    if (typeof members['document'] === 'string') return [await judgeKept(members, options)]
    if ('evidence' in members) {
      const judge = (piece: unknown) => judgeEvidence(piece, options)
      return await Promise.all(listOf(members, 'evidence').map(judge))
    }
    if ('statements' in members) return [await judgeEvidence(members, options)]
  } catch (error) {
    if (error instanceof InvalidState || error instanceof EvidenceError)
      throw new InvalidProof(error.message, { cause: error })
    throw error
  }
  throw new InvalidProof('it is neither a certified answer nor evidence')
}

/** A document that is kept with its request. */
async function judgeKept(kept: Members, options: ProofOptions): Promise<ProvenState> {
  const request = options.request ?? requestIn(kept['request'])
  return await judgeState(String(kept['document']), request, options)
}

async function judgeState(
  document: string,
  request: CanonicalRequest | null,
  { genesis, threshold }: ProofOptions,
): Promise<ProvenState> {
  const genesisHash = await hashGenesis(genesis)
  const network = { genesis, genesisHash, sha256, crypto: createWebCrypto() }
  if (request === null)
    return { kind: 'shown', certified: await showDocument(document, threshold, network) }
  const verifier = createCertifiedVerifier(network)
  const certified = await verifier.verify(document, asked(request, network), threshold)
  return { kind: 'certified', request, certified }
}

function asked(...[request, network]: Parameters<typeof questionOf>) {
  try {
    return questionOf(request, network)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new InvalidProof(cause.message, { cause })
  }
}

function requestIn(value: unknown): CanonicalRequest {
  const request = asRequest(value)
  if (request !== null) return request
  throw new InvalidProof('it is kept with no request')
}

/** A request as JSON has it; null: it is none. */
export function asRequest(value: unknown): CanonicalRequest | null {
  const { operation, parameters } = Object(value)
  const isRequest = typeof operation === 'string' && isRecord(parameters)
  // Read from JSON.
  return isRequest ? ({ operation, parameters } as CanonicalRequest) : null
}

/** What is printed next to a proof proves nothing, but must not differ from what is proven. */
function requireShown(members: Members, proven: ProvenState): ProvenState {
  const { answer, offset, recordTime, historyHash, signers } = proven.certified
  const isAbsent = String(members['kind']).endsWith('-absent')
  const shown = Object.entries({ answer, offset, recordTime, historyHash, agreed: signers })
  const other = shown.find(
    ([name, value]) => JSON.stringify(members[name]) !== JSON.stringify(value),
  )
  if (other === undefined && isAbsent === (answer === null)) return proven
  throw new InvalidProof(`the ${other?.[0] ?? 'kind'} shown is not the one proven`)
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

function listOf(document: Members, name: string): readonly unknown[] {
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

function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
