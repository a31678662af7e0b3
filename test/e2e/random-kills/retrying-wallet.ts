/**
 * A wallet that retries until its goal is reached. Each request may be answered, refused temporarily, or get no answer.
 * It relies only on the guarantees of errors (D-6).
 */

import { parseTime } from '@quorumscan/model'
import { type HttpAnswer, send } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { clock } from '../../support/client.ts'
import type { Renewal } from './plan.ts'

const RETRY_MS = 200

export type RetryingWallet = {
  readonly party: string
  tap(usd: string): Promise<void>
  /** Resolves when this user ("won") or another one ("lost") has the name. Both results are final. */
  obtain(name: string, renewal: Renewal): Promise<'won' | 'lost'>
  /** Resolves when the name was renewed once. */
  untilRenewed(name: string, renewal: Renewal): Promise<void>
  subscriptions(): Promise<readonly Subscription[]>
  balance(): Promise<{ readonly unlocked: string; readonly locked: string }>
}

export type Subscription = {
  readonly name: string
  readonly contractId: string
  /** Record time, µs. */
  readonly createdAt: number
  /** Due time of the next payment, µs since the epoch; null while a payment is in progress. */
  readonly nextDueAt: number | null
}

/** After `signal` aborts, all methods fail with an error that contains the last answer. */
export async function openRetryingWallet(
  cluster: RunningCluster,
  options: { readonly user: string; readonly lifetimeMicros: number; readonly signal: AbortSignal },
): Promise<RetryingWallet> {
  const { user, lifetimeMicros, signal } = options
  const token = await cluster.token(user)

  let lastAnswer = 'nothing yet'
  const pause = async () => {
    await clock.delay(RETRY_MS, signal).catch(() => {}) // The next line reports the abort.
    if (signal.aborted) throw new Error(`${user} is not done; its last answer: ${lastAnswer}`)
  }

  /** Sends a request once. Returns null if its outcome is unknown. */
  const attempt = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<HttpAnswer | null> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const url = `${cluster.urls.validator}${path}`
    const answer = await send(url, { method, headers, ...text }).catch(
      () => null, // The validator is down, or was killed.
    )
    lastAnswer = `${method} ${path}: ${answer === null ? 'no answer' : `${answer.status} ${JSON.stringify(answer.body)}`}`
    return answer === null || answer.body?.definite === false ? null : answer
  }

  /** Repeats a request while the answer is retryable or missing, and returns the final answer. */
  const sendFinal = async (method: string, path: string, body?: object): Promise<HttpAnswer> => {
    for (;;) {
      const answer = await attempt(method, path, body)
      if (answer !== null && answer.body?.retryable !== true) return answer
      await pause()
    }
  }

  /** @throws {Error} Unless the answer is a success or has one of these codes. */
  const expectAnswer = async (
    answer: HttpAnswer,
    codes: readonly string[],
  ): Promise<HttpAnswer> => {
    if (answer.status === 200 || codes.includes(answer.body?.code)) return answer
    throw new Error(`${user}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }

  const get = async (path: string) => (await expectAnswer(await sendFinal('GET', path), [])).body

  const subscriptions = async (): Promise<readonly Subscription[]> => {
    const { subscriptions: list } = await get('/v0/wallet/subscriptions')
    return list.map(({ subscription, state }: SubscriptionBody) => ({
      name: nameIn(subscription.payload.subscriptionData.description),
      contractId: subscription.contract_id,
      createdAt: parseTime(subscription.created_at) ?? 0,
      nextDueAt: parseTime(state.idle?.payload.nextPaymentDueAt ?? '') ?? null,
    }))
  }

  const findRequest = async (name: string): Promise<string | undefined> => {
    const { subscription_requests: requests } = await get('/v0/wallet/subscription-requests')
    return requests.find(
      ({ payload }: ContractBody) => nameIn(payload.subscriptionData.description) === name,
    )?.contract_id
  }

  /** Returns the request for a name, or null if the name has an owner. Uses a request whose creation got no answer. */
  const request = async (name: string): Promise<string | null> => {
    for (;;) {
      const open = await findRequest(name)
      if (open !== undefined) return open
      const body = { name, url: '', description: `goal of ${user}` }
      const answer = await attempt('POST', '/v0/entry/create', body)
      if (answer?.status === 200) return answer.body.subscriptionRequestCid
      if (answer !== null && answer.body?.retryable !== true) {
        await expectAnswer(answer, ['NAME_TAKEN'])
        return null
      }
      await pause()
    }
  }

  const untilResolved = async (requestCid: string, name: string): Promise<'won' | 'ended'> => {
    for (;;) {
      const { initial_payments: payments } = await get('/v0/wallet/subscription-initial-payments')
      const isPending = payments.some(
        ({ payload }: ContractBody) => payload.reference === requestCid,
      )
      if (!isPending)
        return (await subscriptions()).some((each) => each.name === name) ? 'won' : 'ended'
      await pause()
    }
  }

  await expectAnswer(await sendFinal('POST', '/v0/register', {}), [])
  const status = await get('/v0/wallet/user-status')

  return {
    party: status.party_id,
    async tap(usd) {
      const body = { amount: usd, command_id: `tap of ${user}` }
      await expectAnswer(await sendFinal('POST', '/v0/wallet/tap', body), ['DUPLICATE_COMMAND'])
    },
    async obtain(name, renewal) {
      for (;;) {
        const requestCid = await request(name)
        if (requestCid === null) return 'lost'
        const answer = await sendFinal(
          'POST',
          `/v0/wallet/subscription-requests/${requestCid}/accept`,
          { auto_renew: renewal === 'by itself' },
        )
        // These codes show that an earlier attempt, whose answer was lost, took effect.
        const repeated = ['DUPLICATE_COMMAND', 'CONTRACT_CONSUMED', 'CONTRACT_NOT_FOUND']
        await expectAnswer(answer, repeated)
        if ((await untilResolved(requestCid, name)) === 'won') return 'won'
        // The payment was refunded: another user has the name, or the lock expired before enough confirmations.
      }
    },
    async untilRenewed(name, renewal) {
      for (;;) {
        const subscription = (await subscriptions()).find((each) => each.name === name)
        if (subscription === undefined) throw new Error(`the subscription of ${name} is gone`)
        const { nextDueAt, createdAt, contractId } = subscription
        if (nextDueAt !== null && nextDueAt > createdAt + lifetimeMicros) return
        // Whatever the answer is, the next list of subscriptions shows the result.
        if (nextDueAt !== null && renewal === 'by hand')
          await attempt('POST', `/v0/wallet/subscriptions/${contractId}/pay`)
        await pause()
      }
    },
    subscriptions,
    async balance() {
      const body = await get('/v0/wallet/balance')
      return { unlocked: body.effective_unlocked_qty, locked: body.effective_locked_qty }
    },
  }
}

type ContractBody = {
  readonly contract_id: string
  readonly created_at: string
  readonly payload: {
    readonly reference: string
    readonly nextPaymentDueAt: string
    readonly subscriptionData: { readonly description: string }
  }
}
type SubscriptionBody = {
  readonly subscription: ContractBody
  readonly state: { readonly idle?: ContractBody }
}

/** Descriptions are `ANS entry: "<name>"`. */
function nameIn(description: string): string {
  return description.split('"')[1] ?? ''
}
