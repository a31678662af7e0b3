/**
 * Certified answers: a certificate of the state and the part of the state tree that proves the answer from it.
 * Whoever reads one needs to trust neither this process nor the way that it came.
 */
import { accepts, CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { type Genesis, maxFaulty, parseThreshold, thresholdVotes } from '@quorumscan/consensus'
import {
  type ActivitiesPage,
  type AnyQuestion,
  type Certificate,
  encodeCertificate,
  encodeDocument,
  joinProofs,
  type KeyRange,
  type ProvenActivities,
  type ProvenRange,
} from '@quorumscan/consensus/certified'
import { isScanError, ScanError } from '@quorumscan/errors'
import type { Certifier } from './certifier.ts'

/** At most, for a certificate at the least offset that the caller takes: four times what a busy network needs. */
const CERTIFICATE_WAIT_MS = 1000

/** A second is what certificates are apart; who needs a newer answer says `min_offset`, or asks past caches. */
export const CERTIFIED_HEADERS = {
  'content-type': CERTIFIED_MEDIA_TYPE,
  'cache-control': 'public, max-age=1',
  vary: 'accept',
} as const

/** The part of a replica that proofs are made from. */
export type ProvingReplica = {
  /** A range at a kept certifiable offset, with its proof. */
  proveRange(offset: number, range: KeyRange): Promise<ProvenRange>
  /** A page of the activity history there. */
  proveActivities(offset: number, page: ActivitiesPage): Promise<ProvenActivities>
}

export type CertifiedRequest = {
  readonly query: {
    /** How many members must have signed; weak (f+1) where it is not given. */
    readonly signers?: string | null
    /** The least offset that the caller takes. */
    readonly min_offset?: number | null
  }
  readonly signal: AbortSignal
  /** Whether to wait for a certificate that the query takes. Default true. */
  readonly isPatient?: boolean
}

/** An answer with what proves it. */
export type Proven<Answer> = {
  readonly certificate: Certificate
  readonly answer: Answer
  readonly document: CertifiedReply
}

/** To who accepts the certified form. */
type CertifiedReply = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type CertifiedAnswers = {
  /** The newest certificate that the query takes. @throws {ScanError} As `Certifier.certified`; INVALID_QUORUM. */
  certificate(request: CertifiedRequest): Promise<Certificate>
  /**
   * The answer to a question.
   *
   * @throws {ScanError} As `certificate` and `proveRange`; OFFSET_PRUNED where a walk began at an offset that is
   *   not certified any more.
   */
  prove<Answer>(question: AnyQuestion<Answer>, request: CertifiedRequest): Promise<Proven<Answer>>
  /** The document of `prove` alone. */
  document(question: AnyQuestion<unknown>, request: CertifiedRequest): Promise<CertifiedReply>
}

export function createCertifiedAnswers(context: {
  readonly genesis: Genesis
  readonly certifier: Certifier
  readonly replica: ProvingReplica
}): CertifiedAnswers {
  const { genesis, certifier, replica } = context

  const signerCountOf = (signers: string): number => {
    const nodeCount = genesis.nodes.length
    const threshold = parseThreshold(signers, nodeCount)
    const count = threshold && thresholdVotes(threshold, nodeCount)
    if (count !== undefined) return count
    throw new ScanError(
      'INVALID_QUORUM',
      `signers is weak, strong, all or a number from ${maxFaulty(nodeCount) + 1} to ${nodeCount}`,
    )
  }

  const certificate = async (request: CertifiedRequest) => {
    const { signers, min_offset: minOffset } = request.query
    return certifier.certified({
      signerCount: signerCountOf(signers ?? 'weak'),
      minOffset: minOffset ?? 0,
      waitMs: request.isPatient === false ? 0 : CERTIFICATE_WAIT_MS,
      request,
    })
  }

  const certificateOfWalk = (offset: number): Certificate => {
    certifier.assertAgrees()
    const found = certifier.at(offset)
    if (found !== null) return found
    throw new ScanError('OFFSET_PRUNED', `the state at offset ${offset} is not certified any more`)
  }

  const prove: CertifiedAnswers['prove'] = async (question, request) => {
    const { offset } = question
    const found = offset === null ? await certificate(request) : certificateOfWalk(offset)
    const shown = await show(question, found).catch((error) => {
      // Record time made a leap, and nothing behind it is certified yet. Who named no offset has not named a wrong one.
      if (offset === null && isScanError(error, 'OFFSET_PRUNED')) throw noneKept(found, error)
      throw error
    })
    return {
      certificate: found,
      get answer() {
        return shown.answer()
      },
      get document() {
        const proof = shown.proof()
        return { headers: CERTIFIED_HEADERS, body: utf8(encodeDocument(textOf(found), proof)) }
      },
    }
  }

  const show = async <Answer>(
    question: AnyQuestion<Answer>,
    { offset }: Certificate,
  ): Promise<{ answer(): Answer; proof(): string }> => {
    if ('page' in question) {
      const { rows, proof } = await replica.proveActivities(offset, question.page)
      return { answer: () => question.answer(rows), proof: () => proof }
    }
    const proven = await Promise.all(
      question.ranges.map((range) => replica.proveRange(offset, range)),
    )
    return {
      answer: () =>
        question.answer(
          proven.map(({ leaves }) => leaves),
          offset,
        ),
      proof: () => joinProofs(proven.map((range) => range.proof)),
    }
  }

  return {
    certificate,
    prove,
    document: async (question, request) => (await prove(question, request)).document,
  }
}

function noneKept({ offset }: Certificate, cause: unknown): ScanError {
  return new ScanError(
    'NO_CERTIFICATE',
    `the newest certificate is of offset ${offset}, whose state is not kept any more`,
    { retryAfterSeconds: 1, cause },
  )
}

/** Many answers have the same certificate. */
const textOfCertificate = new WeakMap<Certificate, string>()

function textOf(certificate: Certificate): string {
  const known = textOfCertificate.get(certificate)
  if (known !== undefined) return known
  const text = encodeCertificate(certificate)
  textOfCertificate.set(certificate, text)
  return text
}

/** Whether the caller asks for the certified form. */
export function isCertified(request: { header(name: string): string | null }): boolean {
  return accepts(request.header('accept'), CERTIFIED_MEDIA_TYPE)
}
