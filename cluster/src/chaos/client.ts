/**
 * A user under chaos: registers, renews, transfers and streams through the validator, as a wallet would, and
 * writes down what it was told. It trusts nothing and repeats nothing. It waits for each answer; who looks names up
 * meanwhile does not (`readers.ts`).
 */
import type { Clock } from '@quorumscan/base'
import { parseTime } from '@quorumscan/model'
import { type Asked, ask } from '@quorumscan/runtime'
import type { HistoryEvent, WriteOutcome } from './history.ts'
import type { Seeded } from './seeded-random.ts'

/** More than any wait of the proxy and of a submission that must say whether it may have happened. */
const REQUEST_TIMEOUT_MS = 12_000
const PAUSE_MS = { min: 50, max: 400 }
/** Beyond that a name that has expired is registered again. */
const NAMES_MAX = 40
const STREAM_PAGE = 200
/** Far beyond a run: an offer must not end by itself while the run waits for it. */
const OFFER_MICROS = 3_600_000_000
const TAP_USD = '1000.0'
const TRANSFER_AMOUNT = '1.5'

/** What all clients of a run share. */
export type Shared = {
  readonly validatorUrl: string
  readonly clock: Clock
  /** Milliseconds since the run began. */
  readonly nowMs: () => number
  readonly record: (event: HistoryEvent) => void
  /** Names that somebody registers, and parties. */
  readonly names: string[]
  readonly parties: string[]
  /** Before the labels of all names of the run. */
  readonly prefix: string
}

export type ChaosClient = {
  readonly party: string
  /** Acts until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  stream(): Promise<void>
}

/** Registers the user and gives it coin. @throws {Error} If the validator does not take it. */
export async function createChaosClient(options: {
  readonly shared: Shared
  readonly client: string
  readonly token: string
  readonly random: Seeded
}): Promise<ChaosClient> {
  const { shared, client, random } = options
  const { clock, nowMs, record, prefix } = shared
  let nameCount = 0
  let transferCount = 0
  let streamedThrough = 0

  const send = (
    path: string,
    sent: { body?: unknown; headers?: Record<string, string>; timeoutMs?: number } = {},
  ): Promise<Asked> =>
    ask(`${shared.validatorUrl}${path}`, {
      token: options.token,
      timeoutMs: REQUEST_TIMEOUT_MS,
      ...sent,
    })

  const write = async (
    operation: Extract<HistoryEvent, { kind: 'write' }>['operation'],
    sent: { path: string; body: unknown; reference: string },
    contractOf: (body: unknown) => unknown,
  ): Promise<void> => {
    const startMs = nowMs()
    const answer = await send(sent.path, { body: sent.body })
    const contractId = answer.status === 200 ? contractOf(answer.body) : null
    record({
      kind: 'write',
      client,
      startMs,
      endMs: nowMs(),
      operation,
      reference: sent.reference,
      outcome: outcomeOf(answer),
      code: codeOf(answer),
      contractId: typeof contractId === 'string' ? contractId : null,
    })
  }

  const request = async (name: string): Promise<string | null> => {
    const created = await send('/v0/entry/create', {
      body: { name, url: '', description: `of ${client}` },
    })
    const reference = Object(created.body).subscriptionRequestCid
    return created.status === 200 && typeof reference === 'string' ? reference : null
  }

  const accept = (reference: string) =>
    write(
      'accept',
      {
        path: `/v0/wallet/subscription-requests/${reference}/accept`,
        // The others are renewed by hand, or run out of time.
        body: { auto_renew: random.below(2) === 0 },
        reference,
      },
      (body) => Object(body).initial_payment_contract_id,
    )

  const register = async () => {
    const known = shared.names[random.below(shared.names.length)]
    const isNew = known === undefined || (nameCount < NAMES_MAX && random.below(4) > 0)
    const name = isNew ? `${prefix}-${client}-${nameCount}.unverified.ns` : known
    if (isNew) {
      nameCount += 1
      shared.names.push(name)
    }
    // Most names are asked for more than once before any of it is paid: one payment is kept, the others are given
    // back. Some are never paid.
    const isPaid = Array.from({ length: 1 + random.below(3) }, () => random.below(10) > 0)
    const references = await Promise.all(isPaid.map(() => request(name)))
    for (const [index, reference] of references.entries())
      if (reference !== null && isPaid[index]) await accept(reference)
  }

  const transfer = async () => {
    const receiver = shared.parties[random.below(shared.parties.length)]
    if (receiver === undefined || receiver === party) return
    transferCount += 1
    const reference = `${prefix}-${client}-${transferCount}`
    await write(
      'transfer',
      {
        path: '/v0/wallet/token-standard/transfers',
        reference,
        body: {
          receiver_party_id: receiver,
          amount: TRANSFER_AMOUNT,
          description: '',
          expires_at: clock.nowMicros() + OFFER_MICROS,
          tracking_id: reference,
        },
      },
      (body) => Object(Object(body).output).transfer_instruction_cid,
    )
  }

  const acceptTransfer = async () => {
    const offers = await send('/v0/wallet/token-standard/transfers')
    const list = Object(offers.body).transfers
    for (const offer of Array.isArray(list) ? list : []) {
      const id = Object(offer).contract_id
      const receiver = Object(Object(Object(offer).payload).transfer).receiver
      if (typeof id !== 'string' || receiver !== party) continue
      await write(
        'accept-transfer',
        { path: `/v0/wallet/token-standard/transfers/${id}/accept`, body: {}, reference: id },
        () => id,
      )
      return
    }
  }

  /** One whose window is open, if there is any. */
  const renew = async () => {
    const list = Object((await send('/v0/wallet/subscriptions')).body).subscriptions
    const open = (Array.isArray(list) ? list : []).filter((item) => {
      const idle = Object(Object(item).state).idle
      return Object(item).auto_renew === false && isWindowOpen(Object(Object(idle).payload))
    })
    const chosen = open[random.below(Math.max(1, open.length))]
    const reference = Object(Object(chosen).subscription).contract_id
    if (typeof reference !== 'string') return
    await write(
      'renew',
      { path: `/v0/wallet/subscriptions/${reference}/pay`, body: {}, reference },
      (body) => Object(body).payment_contract_id,
    )
  }
  const isWindowOpen = (idle: Readonly<Record<string, unknown>>): boolean => {
    const dueAt = parseTime(String(idle['nextPaymentDueAt'])) ?? 0
    const { microseconds } = Object(Object(idle['payData']).paymentDuration)
    return dueAt - Number(microseconds) <= clock.nowMicros()
  }

  const stream = async () => {
    const startMs = nowMs()
    const end = Object((await send('/v2/state/ledger-end')).body).offset
    const endInclusive = Number(end)
    if (!Number.isSafeInteger(endInclusive) || endInclusive <= streamedThrough) return
    const beginExclusive = streamedThrough
    const answer = await send(`/v2/updates?limit=${STREAM_PAGE}&stream_idle_timeout_ms=500`, {
      body: {
        beginExclusive,
        endInclusive,
        verbose: false,
        updateFormat: {
          includeTransactions: {
            eventFormat: { filtersByParty: { [party]: {} }, verbose: false },
            transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
          },
        },
      },
    })
    if (answer.status !== 200 || !Array.isArray(answer.body)) return
    const updates = answer.body.flatMap((item: unknown) => {
      const value = Object(Object(Object(item).update).Transaction).value
      const [offset, updateId] = [Object(value).offset, Object(value).updateId]
      return typeof updateId === 'string' ? [{ offset: Number(offset), updateId }] : []
    })
    const isWhole = answer.body.length < STREAM_PAGE
    streamedThrough = isWhole ? endInclusive : (updates.at(-1)?.offset ?? beginExclusive)
    record({
      kind: 'stream',
      client,
      startMs,
      endMs: nowMs(),
      party,
      beginExclusive,
      throughOffset: streamedThrough,
      updates,
    })
  }

  const actions: readonly (readonly [number, () => Promise<unknown>])[] = [
    [40, register],
    [15, transfer],
    [13, acceptTransfer],
    [20, renew],
    [12, stream],
  ]

  const registered = await send('/v0/register', { body: {} })
  const party = String(Object(registered.body).party_id ?? '')
  const tapped = await send('/v0/wallet/tap', { body: { amount: TAP_USD } })
  if (registered.status !== 200 || tapped.status !== 200)
    throw new Error(`the validator did not take ${client}: ${codeOf(registered) ?? codeOf(tapped)}`)
  shared.parties.push(party)

  return {
    party,
    stream,
    async run(signal) {
      while (!signal.aborted) {
        let draw = random.below(100)
        for (const [weight, act] of actions) {
          draw -= weight
          if (draw >= 0) continue
          await act()
          break
        }
        const pauseMs = PAUSE_MS.min + random.below(PAUSE_MS.max - PAUSE_MS.min)
        await clock.delay(pauseMs, signal).catch(() => {}) // Aborted: the loop ends.
      }
    },
  }
}

function outcomeOf(answer: Asked): WriteOutcome {
  if (answer.status === 200) return 'acknowledged'
  return Object(answer.body).definite === true ? 'refused' : 'unknown'
}

function codeOf(answer: Asked): string | null {
  if (answer.status === 200) return null
  const code = Object(answer.body).code
  if (typeof code === 'string') return code
  return answer.status === null ? 'UNREACHABLE' : `HTTP_${answer.status}`
}
