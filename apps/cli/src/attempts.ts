/** The nodes from which a reader requested proofs, and the outcome of each request as text. */
import type { Clock } from '@quorumscan/base'
import {
  ANSWERED,
  describeFailure,
  describeRefusal,
  LAGGING,
  TIMEOUT,
} from '@quorumscan/errors/node-words'
import { readRefusal, type Transport } from '@quorumscan/reader'
import type { CertifiedNodeStatus } from '@quorumscan/reader/certified'
import { CERTIFIED_MEDIA_TYPE } from '@quorumscan/verifier/certified'
import type { Network } from './network.ts'

/** Without an answer for this time, a request is shown as timed out. */
const TIMED_OUT_MS = 1000

export type Attempt = ReturnType<ReturnType<typeof recordAttempts>['attempts']>[number]

/** A transport that records the outcome of requests for proofs, and the record. */
export function recordAttempts(transport: Transport, clock: Clock) {
  /** The outcome for each address, in the order of the first requests. */
  const reasons = new Map<string, () => string>()
  const recording: Transport = {
    async request(input) {
      if (input.headers['accept'] !== CERTIFIED_MEDIA_TYPE) return transport.request(input)
      const startedMs = clock.monotonicMs()
      const late = () => describeSilence(Math.round(clock.monotonicMs() - startedMs))
      const record = (reason: string) => reasons.set(input.url, () => reason)
      reasons.set(input.url, late)
      try {
        const reply = await transport.request(input)
        record(reply.status === 200 ? ANSWERED : describeRefusal(reply.status, readRefusal(reply)))
        return reply
      } catch (error) {
        record(input.signal.aborted ? late() : describeFailure(error))
        throw error
      }
    },
  }
  /** `offset`: the offset of the answer; older answers did not count. `reason`: the outcome of the request. */
  const attempts = (
    nodes: Network['nodes'],
    seen: readonly CertifiedNodeStatus[],
    offset: number,
  ) =>
    [...reasons].map(([url, reasonOf]) => {
      const status = seen.find((one) => one.url === url)
      const node = status?.name ?? nodes.find((one) => one.url === url)?.name ?? url
      const reason = reasonOf() === ANSWERED ? describeAttempt(status, offset) : reasonOf()
      return { node, url, isProven: reason === ANSWERED, reason }
    })
  return { transport: recording, attempts }
}

function describeSilence(ms: number): string {
  return ms < TIMED_OUT_MS ? `no answer in ${ms} ms` : `${TIMEOUT} (${ms} ms)`
}

/** An answer may prove nothing, as the reader reports, or be too old. */
function describeAttempt(status: CertifiedNodeStatus | undefined, offset: number): string {
  const { lastError = null, head = null } = status ?? {}
  if (lastError !== null) return lastError
  return head !== null && head < offset ? `${LAGGING} (at offset ${head})` : ANSWERED
}
