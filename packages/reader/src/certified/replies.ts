/** What comes back from a node, as an event for the policy. */

import { answerOf, openDocument } from '@quorumscan/verifier'
import type { AnyQuestion, CertificateChecks, HashedNetwork } from '@quorumscan/verifier/certified'
import { InvalidProof } from '@quorumscan/verifier/certified'
import { decodeText, parseJson } from '../answers/reply.ts'
import type { TransportReply } from '../source/transport.ts'
import type { ReaderEvent } from './reader-state.ts'

type Event = Extract<ReaderEvent, { readonly flight: number }>

export async function eventOf(
  reply: TransportReply,
  asked: {
    readonly flight: number
    /** null: for the newest certificate alone. */
    readonly question: AnyQuestion<unknown> | null
    readonly minOffset: number
    readonly checks: CertificateChecks
    readonly network: HashedNetwork
  },
): Promise<Event> {
  const { flight, question, checks, network } = asked
  if (reply.status !== 200) return refusalOf(reply, asked)
  try {
    const document = decodeText(reply.body)
    if (question === null) {
      const certificate = document.slice('{"certificate":'.length, -1)
      return { kind: 'told', flight, point: await checks.check(certificate), answer: null }
    }
    // Whether more have to have signed is the policy's to see.
    const { checked: point, proof } = await openDocument(document, 'weak', { network, checks })
    const { answer } = answerOf(proof, point, { question, network })
    return { kind: 'told', flight, point, answer: { answer, document } }
  } catch (error) {
    if (!(error instanceof InvalidProof)) throw error
    return { kind: 'lied', flight, reason: error.message }
  }
}

function refusalOf(
  { status, header, body }: TransportReply,
  { flight, minOffset }: { readonly flight: number; readonly minOffset: number },
): Event {
  const { code } = Object(parseJson(body))
  const reason = `status ${status} ${typeof code === 'string' ? code.slice(0, 40) : ''}`.trimEnd()
  const seconds = header('retry-after') ?? ''
  const retryAfterMs = /^\d{1,6}$/.test(seconds) ? 1000 * Number(seconds) : null
  // The former of a proxy, whose nodes are behind.
  const isBehind = code === 'CONSENSUS_LAGGING' || (code === 'NO_CERTIFICATE' && minOffset > 0)
  const why = status === 410 ? 'gone' : status === 429 ? 'limit' : isBehind ? 'behind' : 'unable'
  return { kind: 'refused', flight, reason, why, retryAfterMs }
}
