/** Pulls what one member signed, by one long poll at a time, and verifies what is new of it. */
import { type Clock, within } from '@quorumscan/base'
import type { Transport } from '@quorumscan/reader'
import type { Logger, Peer } from '@quorumscan/runtime'
import type { CryptoPort } from '@quorumscan/verifier'
import {
  type Collection,
  isNewState,
  parseCertificate,
  type SignedState,
  STATES_KEPT,
  verifySignatures,
} from '@quorumscan/verifier/certified'
import { createPollPace, STATEMENTS_WAIT_MS } from './poll-pace.ts'

/** What a poll may take altogether: then the member is asked again. */
export const POLL_MS_MAX = 2 * STATEMENTS_WAIT_MS
/** 64 statements of at most some 600 bytes each. */
const STATEMENTS_BYTES_MAX = 64 * 1024

export type StatementPolls = {
  /** What is known already; `take` adds to it. */
  readonly collection: Collection
  readonly take: (state: SignedState) => void
  readonly crypto: CryptoPort
  readonly transport: Transport
  readonly clock: Clock
  readonly logger: Logger
  /** Ends the polls. */
  readonly signal: AbortSignal
}

/** Resolves when the signal aborts. */
export async function pollStatements(member: Peer, polls: StatementPolls): Promise<void> {
  const { clock, logger, signal } = polls
  const pace = createPollPace(clock)
  let after = 0
  while (!signal.aborted) {
    const startedMs = clock.monotonicMs()
    const tally = { checkCount: 0 }
    let outcome: 'newer' | 'stale' | 'failed' = 'failed'
    try {
      const newest = await receive(member.name, await ask(member, after, polls), polls, tally)
      outcome = newest > after ? 'newer' : 'stale'
      after = Math.max(after, newest)
    } catch (error) {
      if (signal.aborted) return
      logger.debug({ err: error, member: member.name }, 'what a member signs cannot be pulled')
    }
    const pauseMs = pace.pauseMs({ startedMs, outcome, ...tally })
    if (pauseMs > 0) await clock.delay(pauseMs, signal).catch(() => {}) // Aborted: the loop ends.
  }
}

async function ask(
  { url }: Peer,
  after: number,
  { clock, signal, transport }: StatementPolls,
): Promise<Uint8Array> {
  const reply = await within(
    { clock, timeoutMs: POLL_MS_MAX, signal },
    (bound) =>
      transport.request({
        url,
        method: 'GET',
        path: `/v0/state-statements?after=${after}`,
        headers: {},
        body: null,
        bytesMax: STATEMENTS_BYTES_MAX,
        channel: 'bulk',
        isPublicOnly: false, // Peers are configured by the operator.
        signal: bound,
      }),
    () => {
      throw new Error('no answer')
    },
  )
  if (reply.status !== 200) throw new Error(`status ${reply.status}`)
  return reply.body
}

/** The newest offset of the statements; 0 where there are none. */
async function receive(
  member: string,
  body: Uint8Array,
  { collection, crypto, take }: StatementPolls,
  tally: { checkCount: number },
): Promise<number> {
  const { statements } = JSON.parse(Buffer.from(body).toString()) as { statements: unknown[] }
  if (statements.length > STATES_KEPT)
    throw new Error(`${member} sent ${statements.length} statements; it keeps ${STATES_KEPT}`)
  let newest = 0
  for (const statement of statements) {
    const certificate = parseCertificate(JSON.stringify(statement))
    const [[signer, signature] = [], ...more] = certificate.signatures
    if (signer !== member || signature === undefined || more.length > 0)
      throw new Error(`${member} sent a statement that others signed`)
    const state = { ...certificate, member, signature }
    newest = Math.max(newest, state.offset)
    // What is known, or too old to be kept, changes nothing: its signature is not verified.
    if (!isNewState(collection, state)) continue
    tally.checkCount++
    await verifySignatures(certificate, { ...collection.network, crypto })
    take(state)
  }
  return newest
}
