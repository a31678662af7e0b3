/** A client of a running cluster that uses only HTTP, like a wallet. */
import { createSystemClock } from '@quorumscan/base'
import { createValidatorClient } from '@quorumscan/sdk/raw'
import { type HttpAnswer, send, untilRead } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'

export const clock = createSystemClock()

type ValidatorAccess = {
  readonly urls: Pick<RunningCluster['urls'], 'validator'>
  /** Default: the global `fetch`. A network with its own certificate authority needs another one. */
  readonly fetch?: typeof fetch
}

/** A lookup through the scan proxy. */
export function lookup(
  cluster: ValidatorAccess,
  name: string,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  const path = `/v0/scan-proxy/ans-entries/by-name/${encodeURIComponent(name)}`
  const { fetch } = cluster
  return send(`${cluster.urls.validator}${path}`, { headers, ...(fetch && { fetch }) })
}

/** Waits until the name is found through the proxy. */
export function untilFound(cluster: ValidatorAccess, name: string): Promise<HttpAnswer> {
  return untilRead(
    `${name} to be found`,
    () => lookup(cluster, name),
    ({ status }) => status === 200,
  )
}

/** Registers a user with coin. It uses the generated client. */
export async function createUser(
  cluster: ValidatorAccess & Pick<RunningCluster, 'token'>,
  user: string,
  tapUsd: string | null = '10.0',
) {
  const token = await cluster.token(user)
  const { urls, fetch } = cluster
  const client = createValidatorClient({ baseUrl: urls.validator, token, ...(fetch && { fetch }) })
  const { party_id } = unwrap(await client.POST('/v0/register', { body: {} }))
  if (tapUsd !== null) unwrap(await client.POST('/v0/wallet/tap', { body: { amount: tapUsd } }))
  return {
    token,
    client,
    party: party_id,
    /** Requests a name, and returns the id of its subscription request. */
    async request(name: string): Promise<string> {
      const body = { name, url: 'https://example.org', description: `entry of ${user}` }
      return unwrap(await client.POST('/v0/entry/create', { body })).subscriptionRequestCid
    },
    async accept(
      requestCid: string,
      { autoRenew }: { autoRenew: boolean } = { autoRenew: false },
    ): Promise<string> {
      const answer = await client.POST('/v0/wallet/subscription-requests/{contract_id}/accept', {
        params: { path: { contract_id: requestCid } },
        body: { auto_renew: autoRenew },
      })
      return unwrap(answer).initial_payment_contract_id
    },
    async balance() {
      return unwrap(await client.GET('/v0/wallet/balance'))
    },
    /** Requests a name and accepts the payment. The confirmations follow automatically. */
    async pay(name: string): Promise<string> {
      return this.accept(await this.request(name))
    },
  }
}

/** Returns the data of an answer. @throws {Error} With the server's error. */
export function unwrap<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined || answer.error !== undefined)
    throw new Error(`${answer.response.status}: ${JSON.stringify(answer.error)}`)
  return answer.data
}
