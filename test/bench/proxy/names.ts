/** Fills a running cluster with names of several users. */
import { createSystemClock, waitFor } from '@quorumscan/base'
import { createValidatorClient } from '@quorumscan/sdk/raw'
import type { RunningCluster } from 'quorumscan/testing'

/** A party has at most 16 open requests and payments (D-17). */
const AT_ONCE_MAX = 16
const USERS = 16
const FOUND_MS_MAX = 120_000
/** Attempts per name: on a busy machine the outcome of a request or payment may be late. */
const TRIES_MAX = 5
const TOO_MANY = 429
const PAUSE_MS = 1_000
const clock = createSystemClock()

type ValidatorAccess = { readonly urls: Pick<RunningCluster['urls'], 'validator'> }

export function nameOf(index: number): string {
  return `bench-${String(index).padStart(4, '0')}.unverified.ns`
}

/** Registers names, with one registration per user at a time. Resolves when the proxy finds all. */
export async function registerNames(cluster: RunningCluster, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => nameOf(index))
  const users = Array.from({ length: Math.min(USERS, count) }, (_, index) => index)
  await Promise.all(
    users.map(async (user) => {
      const own = names.filter((_, index) => index % users.length === user)
      const register = await createRegistrar(cluster, `bench-${user}`)
      for (let first = 0; first < own.length; first += AT_ONCE_MAX) {
        const wave = own.slice(first, first + AT_ONCE_MAX)
        for (const name of wave) await register(name)
        await Promise.all(wave.map((name) => untilFound(cluster, name)))
      }
    }),
  )
}

/** Creates a user, and a function that requests and pays for a name. The confirmations follow automatically. */
export async function createRegistrar(
  cluster: ValidatorAccess & Pick<RunningCluster, 'token'>,
  user: string,
): Promise<(name: string) => Promise<void>> {
  const baseUrl = cluster.urls.validator
  const client = createValidatorClient({ baseUrl, token: await cluster.token(user) })
  await unlimited(() => client.POST('/v0/register', { body: {} }))
  await unlimited(() => client.POST('/v0/wallet/tap', { body: { amount: '1000.0' } }))
  const create = async (name: string): Promise<string | undefined> => {
    const body = { name, url: 'https://example.org', description: 'looked up all day' }
    return (await unlimited(() => client.POST('/v0/entry/create', { body }))).data
      ?.subscriptionRequestCid
  }
  const accept = async (request: string): Promise<number> => {
    const path = { contract_id: request }
    const route = '/v0/wallet/subscription-requests/{contract_id}/accept'
    return (await unlimited(() => client.POST(route, { params: { path } }))).response.status
  }
  return async (name) => {
    for (let left = TRIES_MAX; left > 0; left--) {
      const request = await create(name)
      const status = request === undefined ? 503 : await accept(request)
      // The payment was accepted, now or by an earlier attempt. Later lookups show its result.
      if (status === 200 || status === 404 || status === 409) return
    }
    throw new Error(`${name} was not paid`)
  }
}

/** Repeats a request until its client may do as much. */
async function unlimited<Answer extends { readonly response: Response }>(
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer.response.status !== TOO_MANY) return answer
    await clock.delay(PAUSE_MS)
  }
}

/** Waits until enough nodes have the entry, and returns it. */
export function untilFound(
  cluster: ValidatorAccess,
  name: string,
  intervalMs = 50,
): Promise<{ readonly expires_at: string }> {
  const url = `${cluster.urls.validator}/v0/scan-proxy/ans-entries/by-name/${name}`
  return waitFor(
    async () => {
      const found = await fetch(url)
      const { entry } = (await found.json()) as { entry?: { expires_at: string } }
      return found.status === 200 ? entry : undefined
    },
    { clock, timeoutMs: FOUND_MS_MAX, intervalMs, what: `${name} to be found` },
  )
}
