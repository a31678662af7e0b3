/** Asks one node: sends the request, and verifies certificate and proof of the reply. */

import { answerOf, memberSetOf } from '@quorumscan/verifier'
import {
  BEFORE_CERTIFICATE,
  createCertificateChecks,
  type HashedNetwork,
  InvalidProof,
  type SignatureVerifier,
  splitDocument,
} from '@quorumscan/verifier/certified'
import { decodeText, readRefusal } from '../answers/reply.ts'
import type { Asker } from '../driver/run.ts'
import type { Transport, TransportReply } from '../source/transport.ts'
import type { CertifiedReply, RequestInFlight } from './certified-state.ts'
import { wireRequest } from './node-request.ts'

export function createAsker(options: {
  readonly transport: Transport
  readonly network: HashedNetwork
  readonly crypto: SignatureVerifier
  readonly isPrivateAllowed: boolean
}): Asker<RequestInFlight, CertifiedReply> {
  const { transport, network, isPrivateAllowed } = options
  const checks = createCertificateChecks({ ...network, crypto: options.crypto })
  /** Every certificate has more signers. */
  const faultyMax = memberSetOf(network.genesis).f

  const replyOf = async (
    reply: TransportReply,
    flight: RequestInFlight,
  ): Promise<CertifiedReply> => {
    const { read, minOffset } = flight
    if (reply.status !== 200) return refusalOf(reply, minOffset)
    try {
      const document = decodeText(reply.body)
      if (read === null) {
        const certificate = document.slice(BEFORE_CERTIFICATE.length, -1)
        return { kind: 'proven', point: await checks.check(certificate), answer: null }
      }
      read.stateQuery ??= read.query.stateQuery(network)
      const { certificate, proof } = splitDocument(document)
      // The decider compares the signers with the threshold of the read.
      const point = await checks.check(certificate)
      const { answer } = answerOf(proof, point, read.stateQuery, network)
      return { kind: 'proven', point, answer: { answer, document } }
    } catch (error) {
      if (error instanceof InvalidProof) return { kind: 'lied', reason: error.message }
      // Such as a missing part of the platform. Not a failure of the network: the node did answer.
      return { kind: 'lied', reason: `it could not be checked (${String(error)})` }
    }
  }

  return async (flight, signal) => {
    const { read, source, minOffset } = flight
    const threshold = read?.wanted.threshold ?? network.trust?.threshold ?? 0
    for (let wanted = threshold; ; ) {
      const signers = wanted > faultyMax + 1 ? wanted : 0
      const reply = await transport.request({
        ...wireRequest(read?.query, { signers, minOffset }),
        url: source.url as string, // Each has one here.
        isPublicOnly: !isPrivateAllowed && !source.isSeed,
        signal,
      })
      const found = await replyOf(reply, flight)
      // Nodes count all signers. Where others signed in the place of trusted ones, more are asked for.
      if (found.kind !== 'proven' || found.point.signers.length >= threshold) return found
      const more = threshold + found.point.otherCount
      if (more <= wanted) return found
      wanted = more
    }
  }
}

function refusalOf(reply: TransportReply, minOffset: number): CertifiedReply {
  const { status } = reply
  const { code, text: reason, retryAfterMs } = readRefusal(reply)
  // The former comes from a proxy whose nodes lag.
  const isLagging = code === 'CONSENSUS_LAGGING' || (code === 'NO_CERTIFICATE' && minOffset > 0)
  const unmet = isLagging ? 'not-reached' : 'unable'
  const kind = status === 410 ? 'pruned' : status === 429 ? 'limit' : unmet
  return { kind, reason, retryAfterMs }
}
