/**
 * How a node is, and what came of asking it: the words that `status`, `check`, `resolve` and the console share. Imports
 * nothing, so that a page can have it.
 */

/**
 * Of a node, the validator or a synchronizer, together with its Redis, as the process that runs it knows it; unknown
 * while that process cannot be asked.
 */
export type NodeState = 'up' | 'starting' | 'catching-up' | 'silent' | 'paused' | 'down' | 'unknown'

/** A state as a person reads it. */
export const wordOfState: Readonly<Record<NodeState, string>> = {
  up: 'up',
  starting: 'starting',
  'catching-up': 'catching up',
  // It runs, and does not say how it is.
  silent: 'silent',
  paused: 'paused',
  down: 'down',
  unknown: 'unknown',
}

/** What came of asking a node, where it gave what was asked for. */
export const ANSWERED = 'answered'
/** It gave what contradicts an answer that enough nodes gave. */
export const DISAGREES = 'disagrees'
/** How it voted: for the answer that was given, or for another. */
export const AGREED = 'agreed'
export const DISSENTED = 'dissented'
/** It has not come as far as was asked for. */
export const BEHIND = 'behind'
export const TIMEOUT = 'timeout'

/** Node reads that variable as it starts. */
const UNTRUSTED = 'untrusted certificate (NODE_EXTRA_CA_CERTS names who vouches)'

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
  OFFSET_NOT_REACHED: BEHIND,
  CONSENSUS_LAGGING: BEHIND,
  NOT_READY: 'not ready',
}
/** Of the code of a refusal. Others write it. */
const CODE = /^[A-Z_]{1,40}$/

/** Whether a lookup that ended so was answered: with an entry, or that there is none. */
export function isAnswer(kind: string): boolean {
  return /^(verified|trusted)/.test(kind)
}

/** Why a node could not be heard: of what a request to it threw. */
export function wordOfFailure(error: unknown): string {
  const { name, code, message, cause } = Object(error)
  if (name === 'TimeoutError') return TIMEOUT
  const word = wordOfErrno[String(code)]
  if (word !== undefined) return word
  return cause instanceof Error ? wordOfFailure(cause) : String(code ?? message ?? error)
}

/** What a node answered instead of what was asked for: the code of its refusal, or a status. */
export function wordOfRefusal(status: number, body: unknown): string {
  const { code } = Object(body)
  if (typeof code !== 'string' || !CODE.test(code)) return `status ${status}`
  return wordOfCode[code] ?? code
}

/** What is in a job queue, such as `2 waiting, 1 active`; nothing of an empty one. */
export function wordsOfQueue(
  counts: Readonly<Record<'waiting' | 'delayed' | 'active', number>>,
): string {
  return (['waiting', 'delayed', 'active'] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => `${counts[name]} ${name}`)
    .join(', ')
}
