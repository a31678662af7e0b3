/**
 * Certified answers: a certificate of the state and the part of the state tree that proves the answer from it.
 * Whoever reads one needs to trust neither this node nor the way that it came.
 */
import { accepts, CERTIFIED_MEDIA_TYPE } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { type Genesis, maxFaulty, parseThreshold, thresholdVotes } from '@quorumscan/consensus'
import {
  type Certificate,
  encodeCertificate,
  encodeDocument,
  type Question,
} from '@quorumscan/consensus/certified'
import { ScanError } from '@quorumscan/errors'
import type { Certifier } from '@quorumscan/http'
import type { StateReads } from '@quorumscan/replica'

/** For a certificate at the least offset that the caller takes: four times what a busy network needs. */
const CERTIFICATE_WAIT_MS = 1000

/** How much the caller asks of a certificate. */
export type CertifiedQuery = {
  readonly signers?: string | null
  readonly min_offset?: number | null
}

type Asked = {
  readonly query: CertifiedQuery
  readonly signal: AbortSignal
}

export type CertifiedAnswers = {
  /** The newest certificate that the query takes. @throws {ScanError} As `Certifier.certified`; INVALID_QUORUM. */
  certificate(asked: Asked): Promise<Certificate>
  /**
   * The document that answers a question.
   *
   * @throws {ScanError} As `certificate` and `StateReads.proveRange`; OFFSET_PRUNED where a walk began at an offset that
   *   is not certified any more.
   */
  document(
    question: Question<unknown>,
    asked: Asked,
  ): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array }>
}

export function createCertifiedAnswers(context: {
  readonly genesis: Genesis
  readonly certifier: Certifier
  readonly reads: Pick<StateReads, 'proveRange'>
}): CertifiedAnswers {
  const { genesis, certifier, reads } = context

  const signerCountOf = (signers: string): number => {
    const nodeCount = genesis.nodes.length
    const threshold = parseThreshold(signers, nodeCount)
    const count = threshold && thresholdVotes(threshold, nodeCount)
    if (count === undefined)
      throw new ScanError(
        'INVALID_QUORUM',
        `signers is weak, strong, all or a number from ${maxFaulty(nodeCount) + 1} to ${nodeCount}`,
      )
    return count
  }

  const certificate = ({ query, signal }: Asked) =>
    certifier.certified({
      signerCount: signerCountOf(query.signers ?? 'weak'),
      minOffset: query.min_offset ?? 0,
      waitMs: CERTIFICATE_WAIT_MS,
      signal,
    })

  const certificateOfWalk = (offset: number): Certificate => {
    certifier.assertAgrees()
    const found = certifier.at(offset)
    if (found !== null) return found
    throw new ScanError('OFFSET_PRUNED', `the state at offset ${offset} is not certified any more`)
  }

  return {
    certificate,
    async document(question, asked) {
      const { offset, ranges } = question
      const found = offset === null ? await certificate(asked) : certificateOfWalk(offset)
      const proofs = await Promise.all(
        ranges.map((range) => reads.proveRange(found.offset, range, asked.signal)),
      )
      return {
        headers: HEADERS,
        body: utf8(encodeDocument(encodeCertificate(found), proofs.flat())),
      }
    },
  }
}

/** A second is what certificates are apart; who needs a newer answer says `min_offset`, or asks past caches. */
const HEADERS = {
  'content-type': CERTIFIED_MEDIA_TYPE,
  'cache-control': 'public, max-age=1',
  vary: 'accept',
} as const

/** Whether the caller asks for the certified form. */
export function isCertified(request: { header(name: string): string | null }): boolean {
  return accepts(request.header('accept'), CERTIFIED_MEDIA_TYPE)
}
