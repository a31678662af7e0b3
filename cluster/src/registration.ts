/**
 * One registration through the validator's public HTTP interface, step by step: what `demo` shows and
 * what `npm start` does for its seed names. A client like any other; knows nothing of the inside.
 */
import { type Clock, waitFor } from '@quorumscan/base'
import { type Asked, ask } from './ask.ts'
import { ClusterError } from './cluster-error.ts'

/** A confirmation takes a few log entries; a laptop that also compiles takes its time. */
const RESOLVE_TIMEOUT_MS = 30_000
const REQUEST_TIMEOUT_MS = 20_000

export type Exchange = Asked & {
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
  /** Told every step with what was asked and answered; a wait with its last answer. */
  readonly onStep: (title: string, exchange: Exchange) => void
}

/** In USD: ten times the fee of a name. */
const TAP_USD = '10.0'

/**
 * Registers the user of the token, taps coin, requests the name, pays, waits for the confirmations and
 * looks the name up through the scan proxy.
 *
 * @returns The last exchange: the verified lookup.
 * @throws {ClusterError} At the first answer that is not the expected one, with its error sentence.
 */
export async function registerName(input: RegistrationInput): Promise<Exchange> {
  const step = async (title: string, request: Request) => {
    const exchange = expectOk(await send(input, request))
    input.onStep(title, exchange)
    return exchange
  }
  await step('Become a user of the validator', { method: 'POST', path: '/v0/register', body: {} })
  await step('Get coin (this network is for development)', {
    method: 'POST',
    path: '/v0/wallet/tap',
    body: { amount: TAP_USD },
  })
  const created = await step('Ask for the name', {
    method: 'POST',
    path: '/v0/entry/create',
    body: { name: input.name, url: '', description: input.description },
  })
  const request = String(Object(created.body).subscriptionRequestCid)
  await step('Pay for it: accept the subscription request', {
    method: 'POST',
    path: `/v0/wallet/subscription-requests/${request}/accept`,
    body: {},
  })
  const lookup = { method: 'GET', path: lookupPath(input.name), body: null } as const
  const found = await waitFor(
    async () => {
      const exchange = await send(input, lookup)
      return exchange.status === 404 ? undefined : expectOk(exchange)
    },
    {
      clock: input.clock,
      timeoutMs: RESOLVE_TIMEOUT_MS,
      intervalMs: 100,
      what: `the super-validators to confirm ${input.name}`,
    },
  )
  input.onStep('Look it up through the scan proxy', found)
  return found
}

/** Whether a live entry has the name, by a lookup through the scan proxy. */
export async function isRegistered(input: {
  readonly validatorUrl: string
  readonly name: string
}): Promise<boolean> {
  const exchange = await send(
    { ...input, token: null },
    { method: 'GET', path: lookupPath(input.name), body: null },
  )
  return exchange.status !== 404 && expectOk(exchange).status === 200
}

type Request = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body: unknown }

async function send(
  server: { readonly validatorUrl: string; readonly token: string | null },
  { method, path, body }: Request,
): Promise<Exchange> {
  const answer = await ask(`${server.validatorUrl}${path}`, {
    timeoutMs: REQUEST_TIMEOUT_MS,
    token: server.token,
    ...(method === 'POST' ? { body } : {}),
  })
  const { status, reason } = answer
  if (status === null)
    throw new ClusterError(`${method} ${path}: the validator does not answer (${reason})`)
  return { ...answer, status, method, path, requestBody: body }
}

function expectOk(exchange: Exchange): Exchange {
  if (exchange.status === 200) return exchange
  const { error: sentence = 'no reason given' } = Object(exchange.body)
  throw new ClusterError(`${exchange.method} ${exchange.path}: ${exchange.status}, ${sentence}`)
}

function lookupPath(name: string): string {
  return `/v0/scan-proxy/ans-entries/by-name/${encodeURIComponent(name)}`
}
