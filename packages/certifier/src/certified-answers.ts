/**
 * Certified answers: a certificate of the state and the part of the state tree that proves the answer from it.
 * A reader of the answer need not trust this process or the network.
 */
import { accepts, CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { concatBytes, utf8 } from '@quorumscan/base'
import { isScanError, ScanError } from '@quorumscan/errors'
import type { StateReads } from '@quorumscan/replica'
import type { WaitingRequest } from '@quorumscan/server'
import { type Genesis, memberSetOf, parseThreshold, thresholdVotes } from '@quorumscan/verifier'
import {
  type Certificate,
  encodeCertificate,
  encodeDocument,
  type ProvenRange,
  type StateQuery,
} from '@quorumscan/verifier/certified'
import type { Certifier } from './certifier.ts'

/** The longest wait for a certificate at `min_offset`: four times what a busy network needs. */
const CERTIFICATE_WAIT_MS = 1000

/** Certificates are a second apart. A client that needs a newer answer sends `min_offset`, or bypasses caches. */
export const CERTIFIED_HEADERS = {
  'content-type': CERTIFIED_MEDIA_TYPE,
  'cache-control': 'public, max-age=1',
  vary: 'accept',
} as const

export type CertifiedHttpRequest = WaitingRequest & {
  readonly query: {
    /** How many members must have signed. Default: weak (f+1). */
    readonly signers?: string | null
    /** The least offset that the caller accepts. */
    readonly min_offset?: number | null
  }
  /** Whether to wait for a certificate that satisfies the query. Default true. */
  readonly waits?: boolean
}

export type CertifiedAnswers = ReturnType<typeof createCertifiedAnswers>

export function createCertifiedAnswers(context: {
  readonly genesis: Genesis
  readonly certifier: Certifier
  readonly replica: Pick<StateReads, 'proveRanges' | 'proveActivities'>
}) {
  const { genesis, certifier, replica } = context

  const signerCountOf = (signers: string): number => {
    const set = memberSetOf(genesis)
    const threshold = parseThreshold(signers, set)
    const count = threshold && thresholdVotes(threshold, set)
    if (count !== undefined) return count
    throw new ScanError(
      'INVALID_QUORUM',
      `signers is weak, strong, all or a number from ${set.f + 1} to ${set.n}`,
    )
  }

  /** The newest certificate that satisfies the query. @throws {ScanError} As `Certifier.certified`; INVALID_QUORUM. */
  const certificate = async (request: CertifiedHttpRequest): Promise<Certificate> => {
    const { signers, min_offset: minOffset } = request.query
    return certifier.certified({
      signerCount: signerCountOf(signers ?? 'weak'),
      minOffset: minOffset ?? 0,
      waitMs: request.waits === false ? 0 : CERTIFICATE_WAIT_MS,
      request,
    })
  }

  const certificateOfWalk = (offset: number): Certificate => {
    certifier.assertNotDiverged()
    const found = certifier.at(offset)
    if (found !== null) return found
    throw new ScanError('OFFSET_PRUNED', `the state at offset ${offset} is no longer certified`)
  }

  /**
   * The answer to a query.
   *
   * @throws {ScanError} As `certificate` and `proveRanges`; OFFSET_PRUNED if a walk began at an offset that is no
   *   longer certified.
   */
  const prove = async <Answer>(stateQuery: StateQuery<Answer>, request: CertifiedHttpRequest) => {
    const { offset } = stateQuery
    const found = offset === null ? await certificate(request) : certificateOfWalk(offset)
    const proven = await proveAt(stateQuery, found).catch((error) => {
      // Record time has jumped, and no later state is certified yet. The caller named no offset, so its request is right.
      if (offset === null && isScanError(error, 'OFFSET_PRUNED')) throw stateNotStored(found, error)
      throw error
    })
    return {
      certificate: found,
      get answer() {
        return proven.answer()
      },
      get document() {
        const { before, after } = frameOf(found)
        const body = concatBytes([before, ...proven.proof(), after])
        return { headers: CERTIFIED_HEADERS, body }
      },
    }
  }

  const proveAt = async <Answer>(stateQuery: StateQuery<Answer>, { offset }: Certificate) => {
    if ('page' in stateQuery) {
      const { rows, proof } = await replica.proveActivities(offset, stateQuery.page)
      return { answer: () => stateQuery.answer(rows), proof: () => [utf8(proof)] }
    }
    const proven = await replica.proveRanges(offset, stateQuery.ranges)
    return {
      answer: () =>
        stateQuery.answer(
          proven.map(({ leaves }) => leaves),
          offset,
        ),
      proof: () => joinedProofs(proven),
    }
  }

  return { certificate, prove }
}

function stateNotStored({ offset }: Certificate, cause: unknown): ScanError {
  return new ScanError(
    'NO_CERTIFICATE',
    `the newest certificate is of offset ${offset}, whose state is no longer stored`,
    { retryAfterSeconds: 1, cause },
  )
}

/** The bytes before and after the proof in a document. Many documents have the same certificate. */
type Frame = { readonly before: Uint8Array; readonly after: Uint8Array }

const frameOfCertificate = new WeakMap<Certificate, Frame>()

function frameOf(certificate: Certificate): Frame {
  const known = frameOfCertificate.get(certificate)
  if (known !== undefined) return known
  const proof = '\0'
  const parts = encodeDocument(encodeCertificate(certificate), proof).split(proof).map(utf8)
  const [before, after] = parts as [Uint8Array, Uint8Array] // No certificate has the character.
  const frame = { before, after }
  frameOfCertificate.set(certificate, frame)
  return frame
}

const [OPEN, COMMA, CLOSE] = [utf8('['), utf8(','), utf8(']')]

/** As `joinProofs`, in UTF-8: copying bytes takes a tenth of encoding them again. */
function joinedProofs(proven: readonly ProvenRange[]): readonly Uint8Array[] {
  // A proof of the empty tree is empty.
  const proofs = proven.filter(({ proof }) => proof.byteLength > 0)
  const parts = proofs.flatMap(({ proof }, index) => (index === 0 ? [proof] : [COMMA, proof]))
  return [OPEN, ...parts, CLOSE]
}

/** Whether the caller asks for the certified form. */
export function isCertified(request: { header(name: string): string | null }): boolean {
  return accepts(request.header('accept'), CERTIFIED_MEDIA_TYPE)
}
