/**
 * Texts for states and answers of nodes, which `status`, `check`, `resolve` and the console share. Imports nothing, so
 * that the console can import it.
 */

/**
 * The state of a node, the validator or a synchronizer, with its Redis, as its supervisor reports it; `unknown` while the
 * supervisor cannot be reached.
 */
export type NodeState = 'up' | 'starting' | 'catching-up' | 'silent' | 'paused' | 'down' | 'unknown'

/** The text for a state. */
export const stateLabel: Readonly<Record<NodeState, string>> = {
  up: 'up',
  starting: 'starting',
  'catching-up': 'catching up',
  // The process runs, and does not answer.
  silent: 'silent',
  paused: 'paused',
  down: 'down',
  unknown: 'unknown',
}

/**
 * The health of a super-validator, as a process judges it by what it proves (D-87):
 * - `silent`: it does not answer.
 * - `behind`: it says that it answers no lookups, or lacks the newest entries of the log; or it signs old states.
 * - `unsigned`: it says that it follows the log, but did not sign what f + 1 members signed for 30 s.
 * - `healthy`: none of these. Only such a member counts.
 */
export const MEMBER_HEALTHS = ['healthy', 'silent', 'behind', 'unsigned'] as const
export type MemberHealth = (typeof MEMBER_HEALTHS)[number]

/** The text for a judgement, after the name of a member. */
export const healthLabel: Readonly<Record<MemberHealth, string>> = {
  healthy: 'is healthy',
  silent: 'does not answer',
  behind: 'lacks the newest entries, or answers no lookups',
  unsigned: 'signs none of the states that f + 1 others sign',
}

/** The node answered as requested. */
export const ANSWERED = 'answered'
/** The answer of the node differs from the one of enough nodes. */
export const DISAGREES = 'disagrees'
/** The vote of the node: for the answer of the reader, or for another one. */
export const AGREED = 'agreed'
export const DISSENTED = 'dissented'
/** The node has not applied the requested offset. */
export const LAGGING = 'lagging'
export const TIMEOUT = 'timeout'

const UNTRUSTED = 'untrusted certificate (QS_PEER_CA names the authority)'

const wordOfErrno: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused',
  EAI_AGAIN: 'name not resolved',
  ENOTFOUND: 'name not resolved',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: TIMEOUT,
  UND_ERR_CONNECT_TIMEOUT: TIMEOUT,
  UND_ERR_HEADERS_TIMEOUT: TIMEOUT,
  UND_ERR_BODY_TIMEOUT: TIMEOUT,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'expired certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate of another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS',
}

const wordOfCode: Readonly<Record<string, string>> = {
  NO_CERTIFICATE: 'no certificate',
  OFFSET_NOT_REACHED: LAGGING,
  CONSENSUS_LAGGING: LAGGING,
  NOT_READY: 'not ready',
}
/** The form of an error code. The body is that of any server, and not only of this software. */
const CODE = /^[A-Z_]{1,40}$/

/** Whether an outcome of this kind is an answer: an entry, or a proven absence. */
export function isAnswer(kind: string): boolean {
  return /^(verified|trusted)/.test(kind)
}

/** Why a node did not answer, by the error of the request. */
export function describeFailure(error: unknown): string {
  const { name, code, message, cause } = (error ?? {}) as Readonly<Record<string, unknown>>
  if (name === 'TimeoutError') return TIMEOUT
  const word = wordOfErrno[String(code)]
  if (word !== undefined) return word
  return cause instanceof Error ? describeFailure(cause) : String(code ?? message ?? error)
}

/** Why a node refused: the code, or a status. */
export function describeRefusal(status: number, body: unknown): string {
  const { code } = (body ?? {}) as { readonly code?: unknown }
  if (typeof code !== 'string' || !CODE.test(code)) return `status ${status}`
  return wordOfCode[code] ?? code
}

/** The jobs in a queue, such as `2 waiting, 1 active`; empty for an empty queue. */
export function describeQueue(counts: Readonly<Record<'waiting' | 'delayed' | 'active', number>>) {
  return (['waiting', 'delayed', 'active'] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => `${counts[name]} ${name}`)
    .join(', ')
}
