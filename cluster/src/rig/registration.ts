/**
 * One registration through the validator's public HTTP interface, step by step: for `demo`, the seed names of `npm start`,
 * and the console. An ordinary client.
 */

import type { Clock } from '@quorumscan/base'
import { ask, CommandError, type HttpReply } from '@quorumscan/runtime'
import { membersOf } from '@quorumscan/verifier'

/** A confirmation takes a few log entries. This allows for a busy laptop, or a cluster that recovers. */
const RETRY_FOR_MS = 30_000
const RETRY_MS = 100
const REQUEST_TIMEOUT_MS = 20_000
const NOT_FOUND = 404

/** A request with its answer. */
export type Exchange = HttpReply & {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly requestBody: unknown
  readonly status: number
}

export type RegistrationInput = {
  readonly validatorUrl: string
  readonly token: string
  readonly name: string
  readonly description: string
  readonly clock: Clock
  /** How long to retry a refused step that may succeed later. Default: 30 s. */
  readonly retryForMs?: number
  /** Receives every step with its request and answer; a repeated one with its last answer. */
  readonly onStep: (title: string, exchange: Exchange) => void
}

/** An amount in USD: ten times the fee of a name. */
const TAP_USD = '10.0'

/**
 * Registers the user of the token, taps coin, requests the name, pays, waits for the confirmations and
 * looks the name up through the scan proxy.
 *
 * @returns The last exchange: the verified lookup.
 * @throws {CommandError} At the first error that is not retryable, with its message.
 */
export async function registerName(input: RegistrationInput): Promise<Exchange> {
  const { name, description, retryForMs = RETRY_FOR_MS } = input
  const post = async (title: string, path: string, body: object) => {
    const exchange = expectOk(await sendWithRetries(input, { path, body }, retryForMs, mayRepeat))
    input.onStep(title, exchange)
    return exchange
  }
  await post('Become a user of the validator', '/v0/register', {})
  await post('Get coin (this network is for development)', '/v0/wallet/tap', { amount: TAP_USD })
  const created = await post('Ask for the name', '/v0/entry/create', { name, url: '', description })
  const { subscriptionRequestCid: request } = membersOf(created.body)
  const accept = `/v0/wallet/subscription-requests/${request}/accept`
  await post('Pay for it: accept the subscription request', accept, {})
  const lookup = { path: lookupPath(name) }
  const isAwaited = (exchange: Exchange) => exchange.status === NOT_FOUND || mayRepeat(exchange)
  const found = await sendWithRetries(input, lookup, RETRY_FOR_MS, isAwaited)
  if (found.status === NOT_FOUND)
    throw new CommandError(`the super-validators did not confirm ${name} in time`)
  input.onStep('Look it up through the scan proxy', expectOk(found))
  return found
}

/** Repeats a request while `isAwaited` holds for the answer, until `retryForMs` have passed. Returns the last answer. */
async function sendWithRetries(
  input: RegistrationInput,
  request: Request,
  retryForMs: number,
  isAwaited: (exchange: Exchange) => boolean,
): Promise<Exchange> {
  const endMs = input.clock.monotonicMs() + retryForMs
  for (;;) {
    const exchange = await send(input, request)
    if (!isAwaited(exchange) || input.clock.monotonicMs() >= endMs) return exchange
    await input.clock.delay(RETRY_MS)
  }
}

/** Whether the same request may succeed later, and has had no effect. */
function mayRepeat({ status, method, body }: Exchange): boolean {
  const { retryable, definite } = membersOf(body)
  return status !== 200 && retryable === true && (method === 'GET' || definite === true)
}

/** Whether the name is registered, by a lookup through the scan proxy. */
export async function isRegistered(input: Pick<RegistrationInput, 'validatorUrl' | 'name'>) {
  const exchange = await send({ ...input, token: null }, { path: lookupPath(input.name) })
  return exchange.status !== NOT_FOUND && expectOk(exchange).status === 200
}

/** A body makes it a POST. */
type Request = { readonly path: string; readonly body?: object }

async function send(
  server: { readonly validatorUrl: string; readonly token: string | null },
  { path, body }: Request,
): Promise<Exchange> {
  const { validatorUrl, token } = server
  const method = body === undefined ? 'GET' : 'POST'
  const answer = await ask(validatorUrl + path, { timeoutMs: REQUEST_TIMEOUT_MS, token, body })
  const { status, reason } = answer
  if (status === null)
    throw new CommandError(`${method} ${path}: the validator does not answer (${reason})`)
  return { ...answer, status, method, path, requestBody: body ?? null }
}

function expectOk(exchange: Exchange): Exchange {
  if (exchange.status === 200) return exchange
  const { error: message = 'no reason given' } = membersOf(exchange.body)
  throw new CommandError(`${exchange.method} ${exchange.path}: ${exchange.status}, ${message}`)
}

/** The path of a lookup through the scan proxy. */
export function lookupPath(name: string): string {
  return `/v0/scan-proxy/ans-entries/by-name/${encodeURIComponent(name)}`
}
