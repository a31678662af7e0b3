/** Asks one node: sends the request, and verifies certificate and proof of the reply. */

import { answerOf, openDocument } from '@quorumscan/verifier'
import {
  createCertificateChecks,
  type HashedNetwork,
  InvalidProof,
  type SignatureVerifier,
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

  const replyOf = async (
    reply: TransportReply,
    flight: RequestInFlight,
  ): Promise<CertifiedReply> => {
    const { read, minOffset } = flight
    if (reply.status !== 200) return refusalOf(reply, minOffset)
    try {
      const document = decodeText(reply.body)
      if (read === null) {
        const certificate = document.slice('{"certificate":'.length, -1)
        return { kind: 'proven', point: await checks.check(certificate), answer: null }
      }
      read.stateQuery ??= read.query.stateQuery(network)
      // The decider compares the signers with the threshold of the read.
      const { checked: point, proof } = await openDocument(document, 'weak', { network, checks })
      const { answer } = answerOf(proof, point, read.stateQuery, network)
      return { kind: 'proven', point, answer: { answer, document } }
    } catch (error) {
      if (!(error instanceof InvalidProof)) throw error
      return { kind: 'lied', reason: error.message }
    }
  }

  return async (flight, signal) => {
    const { read, source, minOffset } = flight
    const signers = read?.wanted.signers ?? 'weak'
    const bounds = { signers, minOffset, nodeCount: network.genesis.nodes.length }
    const reply = await transport.request({
      ...wireRequest(read?.query, bounds),
      url: source.url as string, // Each has one here.
      isPublicOnly: !isPrivateAllowed && !source.isSeed,
      signal,
    })
    return replyOf(reply, flight)
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
