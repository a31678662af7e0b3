/**
 * Documents that prove something, verified offline: a certified answer (docs/certified-reads.md), as a node gave it, kept
 * with its request, or within what `resolve --json` prints; and evidence (D-43), alone or as the scan proxy lists it.
 * Reads no file, prints nothing.
 */
import { sha256 } from '@quorumscan/base'
import { messageOf } from '@quorumscan/runtime'
import {
  type CanonicalRequest,
  createPlatformCrypto,
  type Evidence,
  EvidenceError,
  type Genesis,
  hashGenesis,
  membersOf,
  type ProvenEvidence,
  parseStrictJson,
  verifyEvidence,
} from '@quorumscan/verifier'
import {
  type Certified,
  createCertifiedVerifier,
  InvalidProof,
  leavesOfDocument,
  type ProvenLeaf,
  queryOf,
} from '@quorumscan/verifier/certified'
import { z } from 'zod'

const request = z.object({ operation: z.string(), parameters: z.record(z.string(), z.unknown()) })
/** One piece of evidence. `verifyEvidence` checks its members. */
const piece = z.strictObject({ signer: z.unknown(), statements: z.unknown() })
const evidenceList = z.strictObject({
  evidence: z.array(piece).refine(({ length }) => length > 0, 'is empty, which proves nothing'),
})

export type ProvenState =
  | {
      readonly kind: 'certified'
      readonly request: CanonicalRequest
      readonly certified: Certified<unknown>
    }
  /** The request is unknown: it proves these leaves, and no absence. */
  | { readonly kind: 'leaves'; readonly certified: Certified<readonly ProvenLeaf[]> }
export type Proven = ProvenState | { readonly kind: 'evidence'; readonly evidence: ProvenEvidence }

/** The document proves nothing; the message continues "invalid, because". */
export class UnprovenError extends Error {
  override readonly name = 'UnprovenError'
}

type ProofOptions = {
  readonly genesis: Genesis
  /** The request that the document must answer; null: any, which a person then reads. */
  readonly request: CanonicalRequest | null
  /** Signers that are needed. At least f + 1 are, even if this is less. */
  readonly threshold: number
}

/** Everything that the document proves, in its order. @throws {UnprovenError} Unless all of it is proved. */
export async function verifyProof(text: string, options: ProofOptions): Promise<Proven[]> {
  const parsed = orUnproven(() => parseStrictJson(text), 'it cannot be read: ')
  const { certificate, receipt, evidence, statements } = membersOf(parsed)
  try {
    if (certificate !== undefined) return [await verifyState(text, options.request, options)]
    const stored = storedProof.safeParse(receipt).data
    if (stored !== undefined)
      return [assertTextMatches(membersOf(parsed), await verifyStored(stored, options))]
    const alone = storedProof.safeParse(parsed).data
    if (alone !== undefined) return [await verifyStored(alone, options)]
    if ((evidence ?? statements) === undefined)
      throw new UnprovenError('it is neither a certified answer nor evidence')
    const pieces = orUnproven(() =>
      evidence === undefined ? [piece.parse(parsed)] : evidenceList.parse(parsed).evidence,
    )
    if (options.request !== null)
      throw new UnprovenError('it is evidence, which answers no request')
    return await Promise.all(
      pieces.map(async (one) => ({
        kind: 'evidence' as const,
        evidence: await verifyEvidence(one as Evidence, options),
      })),
    )
  } catch (error) {
    if (error instanceof InvalidProof || error instanceof EvidenceError)
      throw new UnprovenError(error.message, { cause: error })
    throw error
  }
}

const storedProof = z.object({ document: z.string(), request: z.unknown().optional() })

/** A document that is stored with its request. */
async function verifyStored(
  stored: z.infer<typeof storedProof>,
  options: ProofOptions,
): Promise<ProvenState> {
  const asked = options.request ?? asRequest(stored.request)
  if (asked === null) throw new UnprovenError('it is stored with no request')
  return await verifyState(stored.document, asked, options)
}

async function verifyState(
  document: string,
  asked: CanonicalRequest | null,
  { genesis, threshold }: ProofOptions,
): Promise<ProvenState> {
  const genesisHash = await hashGenesis(genesis)
  const network = { genesis, genesisHash, sha256, crypto: createPlatformCrypto() }
  if (asked === null)
    return { kind: 'leaves', certified: await leavesOfDocument(document, threshold, network) }
  const stateQuery = orUnproven(() => queryOf(asked, network))
  const certified = await createCertifiedVerifier(network).verify(document, stateQuery, threshold)
  return { kind: 'certified', request: asked, certified }
}

/** A request from JSON; null: it is malformed. */
export function asRequest(value: unknown): CanonicalRequest | null {
  return (request.safeParse(value).data as CanonicalRequest | undefined) ?? null
}

/**
 * `members` show the answer as text next to its proof, and prove nothing.
 *
 * @throws {UnprovenError} If they differ from the proof.
 */
function assertTextMatches(members: Readonly<Record<string, unknown>>, proven: ProvenState) {
  const { answer, offset, recordTime, historyHash, signers } = proven.certified
  const isAbsent = String(members['kind']).endsWith('-absent')
  const shown = Object.entries({ answer, offset, recordTime, historyHash, agreed: signers })
  const other = shown.find(
    ([name, value]) => JSON.stringify(members[name]) !== JSON.stringify(value),
  )
  if (other === undefined && isAbsent === (answer === null)) return proven
  throw new UnprovenError(`the ${other?.[0] ?? 'kind'} shown is not the one proven`)
}

/** @throws {UnprovenError} Where `read` throws. */
export function orUnproven<T>(read: () => T, prefix = ''): T {
  try {
    return read()
  } catch (cause) {
    throw new UnprovenError(`${prefix}${messageOf(cause)}`, { cause })
  }
}
