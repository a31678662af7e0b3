/** Reads the statements of one member, by one long poll at a time, and verifies new ones. */
import { backoffMs, type Clock } from '@quorumscan/base'
import {
  type Logger,
  type Peer,
  type PeerClient,
  type PeerEndpoint,
  type Repetition,
  repeat,
} from '@quorumscan/runtime'
import type { CryptoPort } from '@quorumscan/verifier'
import {
  type Collection,
  isNewState,
  parseCertificate,
  type SignedState,
  STATES_MAX,
  verifySignatures,
} from '@quorumscan/verifier/certified'

/** How long a member waits for a newer statement before it answers a poll. Handlers may take longer than that. */
export const STATEMENTS_WAIT_MS = 5000
/** A poll that takes longer has failed, and the next one follows. */
export const POLL_MS_MAX = 2 * STATEMENTS_WAIT_MS
/** 64 statements of at most some 600 bytes each. */
const STATEMENTS_BYTES_MAX = 64 * 1024
/** The pause between polls of a member that does not answer. */
const RETRY_MS = 500
/** The pause after consecutive answers without a newer statement. An honest member delays such answers itself. */
const STALE = { minMs: 500, maxMs: STATEMENTS_WAIT_MS }
/** The pause between verifications. A member signs five to ten states a second, and may send all stored ones at once. */
const CHECK_MS = 1000 / 32
const CHECKS_AT_ONCE = STATES_MAX

export type StatementPolls = {
  /** The known statements; `addStatement` adds one. */
  readonly collection: Collection
  readonly addStatement: (state: SignedState) => void
  readonly crypto: CryptoPort
  readonly client: PeerClient
  /** The addresses of a member, the most likely one first. */
  readonly endpointsOf: (member: Peer) => readonly PeerEndpoint[]
  readonly clock: Clock
  readonly logger: Logger
}

/** Starts to poll a member at once. Dispose the result to stop. */
export function pollStatements(member: Peer, polls: StatementPolls): Repetition {
  const { client, clock, logger, endpointsOf } = polls
  const pace = createPollPace(clock)
  let after = 0
  let poll: Poll
  const read = async (signal: AbortSignal): Promise<Uint8Array> => {
    let failure: unknown
    for (const { url, isPublicOnly } of endpointsOf(member))
      try {
        return await client.read(url, {
          path: `/v0/state-statements?after=${after}`,
          bytesMax: STATEMENTS_BYTES_MAX,
          timeoutMs: POLL_MS_MAX,
          isPublicOnly,
          signal,
        })
      } catch (error) {
        failure = error
      }
    throw failure
  }
  const pull = async (signal: AbortSignal): Promise<void> => {
    poll = { startedMs: clock.monotonicMs(), checkCount: 0, outcome: 'failed' }
    const body = await read(signal)
    const newest = await receive(member.name, body, polls, poll)
    poll.outcome = newest > after ? 'newer' : 'stale'
    after = Math.max(after, newest)
  }
  return repeat(pull, {
    clock,
    everyMs: () => pace(poll),
    onError: (err) =>
      logger.debug({ err, member: member.name }, 'the statements of a member cannot be read'),
  })
}

/** The newest offset of the statements; 0 if there is no statement. */
async function receive(
  member: string,
  body: Uint8Array,
  { collection, crypto, addStatement }: StatementPolls,
  poll: Poll,
): Promise<number> {
  const { statements } = JSON.parse(Buffer.from(body).toString()) as { statements: unknown[] }
  if (statements.length > STATES_MAX)
    throw new Error(
      `${member} sent ${statements.length} statements, more than the ${STATES_MAX} that a member stores`,
    )
  let newest = 0
  for (const statement of statements) {
    const certificate = parseCertificate(JSON.stringify(statement))
    const [[signer, signature] = [], ...more] = certificate.signatures
    if (signer !== member || signature === undefined || more.length > 0)
      throw new Error(`${member} sent a statement that others signed`)
    const state = { ...certificate, member, signature }
    newest = Math.max(newest, state.offset)
    // A statement that is known, or too old to be stored, changes nothing: its signature is not verified.
    if (!isNewState(collection, state)) continue
    poll.checkCount++
    await verifySignatures(certificate, { ...collection.network, crypto })
    addStatement(state)
  }
  return newest
}

type Poll = {
  /** `monotonicMs` of the request. */
  readonly startedMs: number
  /** Signatures that were verified for it. */
  checkCount: number
  /** `stale`: without a statement newer than the requested ones. */
  outcome: 'newer' | 'stale' | 'failed'
}

/**
 * How long to wait after a poll of one member, in ms, whatever a Byzantine one answers. The back-off counts from the
 * start of the poll.
 */
export function createPollPace({ monotonicMs }: Pick<Clock, 'monotonicMs'>) {
  let staleCount = 0
  /** By then the rate of checks allows all signatures that were verified. */
  let allowedAtMs = Number.NEGATIVE_INFINITY
  return ({ startedMs, checkCount, outcome }: Poll): number => {
    if (outcome !== 'failed') staleCount = outcome === 'stale' ? staleCount + 1 : 0
    const staleMs = staleCount === 0 ? 0 : backoffMs(staleCount, STALE)
    const nowMs = monotonicMs()
    allowedAtMs = Math.max(allowedAtMs, nowMs) + checkCount * CHECK_MS
    const notBeforeMs = Math.max(
      startedMs + (outcome === 'failed' ? RETRY_MS : staleMs),
      allowedAtMs - CHECKS_AT_ONCE * CHECK_MS,
    )
    return Math.max(0, notBeforeMs - nowMs)
  }
}
