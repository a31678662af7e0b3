/**
 * A user in a chaos run: registers, renews, transfers and streams through the validator, as a wallet does, and records all
 * answers. It repeats no request. It waits for each answer, unlike the readers (`readers.ts`).
 */

import type { Clock } from '@quorumscan/base'
import { parseTime } from '@quorumscan/model'
import { ask, type HttpReply, repeat } from '@quorumscan/runtime'
import { memberOf, membersOf } from '@quorumscan/verifier'
import type { EventOf, HistoryEvent, WriteOutcome } from './history.ts'
import type { Seeded } from './seeded-random.ts'

/** Longer than any wait of the proxy, and of a submission with unknown outcome. */
const REQUEST_TIMEOUT_MS = 12_000
const PAUSE_MS = { min: 50, max: 400 }
/** With more names, it registers expired names again. */
const NAMES_MAX = 40
const STREAM_PAGE = 200
/** Longer than a run, so that no offer expires in it. */
const OFFER_MICROS = 3_600_000_000
const OFFERS = '/v0/wallet/token-standard/transfers'
const TAP_USD = '1000.0'
const TRANSFER_AMOUNT = '1.5'

/** All clients of a run share this. */
export type Shared = {
  readonly validatorUrl: string
  readonly clock: Clock
  /** Milliseconds since the run began. */
  readonly nowMs: () => number
  readonly record: (event: HistoryEvent) => void
  /** The names that clients register, and their parties. */
  readonly names: string[]
  readonly parties: string[]
  /** The beginning of all names of the run. */
  readonly prefix: string
}

export type ChaosClient = Awaited<ReturnType<typeof createChaosClient>>

type User = {
  readonly shared: Shared
  readonly client: string
  readonly random: Seeded
  readonly party: string
  readonly send: (path: string, body?: unknown) => Promise<HttpReply>
  nameCount: number
  transferCount: number
  streamedThrough: number
}

/** The actions of a user with their frequencies in percent. */
const ACTIONS = [
  [40, register],
  [15, transfer],
  [13, acceptTransfer],
  [20, renew],
  [12, stream],
] as const

/** Registers the user and gives it coin. @throws {Error} If the validator refuses it. */
export async function createChaosClient(
  options: Pick<User, 'shared' | 'client' | 'random'> & { readonly token: string },
) {
  const { shared, client, random, token } = options
  const send: User['send'] = (path, body) =>
    ask(`${shared.validatorUrl}${path}`, { token, timeoutMs: REQUEST_TIMEOUT_MS, body })
  const registered = await send('/v0/register', {})
  const party = String(memberOf(registered.body, 'party_id') ?? '')
  const tapped = await send('/v0/wallet/tap', { amount: TAP_USD })
  if (registered.status !== 200 || tapped.status !== 200)
    throw new Error(`the validator refused ${client}: ${codeOf(registered) ?? codeOf(tapped)}`)
  shared.parties.push(party)
  const counts = { nameCount: 0, transferCount: 0, streamedThrough: 0 }
  const user: User = { shared, client, random, ...counts, party, send }
  return {
    party,
    stream: () => stream(user),
    /** Acts until the signal aborts. */
    run(signal: AbortSignal): Promise<void> {
      const act = async () => {
        let draw = random.below(100)
        const action = ACTIONS.find(([weight]) => {
          draw -= weight
          return draw < 0
        })
        await action?.[1](user)
      }
      const everyMs = () => PAUSE_MS.min + random.below(PAUSE_MS.max - PAUSE_MS.min)
      return repeat(act, { clock: shared.clock, everyMs, signal }).ended
    },
  }
}

async function write(
  { shared, client, send }: User,
  operation: EventOf<'write'>['operation'],
  sent: { path: string; body: unknown; reference: string },
  contractOf: (body: unknown) => unknown,
): Promise<void> {
  const startMs = shared.nowMs()
  const answer = await send(sent.path, sent.body)
  const created = answer.status === 200 ? contractOf(answer.body) : null
  const contractId = typeof created === 'string' ? created : null
  const [outcome, code, endMs] = [outcomeOf(answer), codeOf(answer), shared.nowMs()]
  const { reference } = sent
  const result = { reference, outcome, code, contractId }
  shared.record({ kind: 'write', client, startMs, endMs, operation, ...result })
}

async function register(user: User): Promise<void> {
  const { shared, client, random, send } = user
  const known = shared.names[random.below(shared.names.length)]
  const isNew = known === undefined || (user.nameCount < NAMES_MAX && random.below(4) > 0)
  const name = isNew ? `${shared.prefix}-${client}-${user.nameCount}.unverified.ns` : known
  if (isNew) {
    user.nameCount += 1
    shared.names.push(name)
  }
  const request = async () => {
    const body = { name, url: '', description: `of ${client}` }
    const created = await send('/v0/entry/create', body)
    return created.status === 200 ? memberOf(created.body, 'subscriptionRequestCid') : null
  }
  // Most names are requested more than once before a payment: one payment is collected, the others are refunded.
  // Some requests are never paid.
  const isPaid = Array.from({ length: 1 + random.below(3) }, () => random.below(10) > 0)
  const references: unknown[] = await Promise.all(isPaid.map(request))
  for (const [index, reference] of references.entries()) {
    if (typeof reference !== 'string' || !isPaid[index]) continue
    const path = `/v0/wallet/subscription-requests/${reference}/accept`
    // Names without automatic renewal are renewed by hand, or expire.
    const sent = { path, body: { auto_renew: random.below(2) === 0 }, reference }
    await write(user, 'accept', sent, (answer) => memberOf(answer, 'initial_payment_contract_id'))
  }
}

async function transfer(user: User): Promise<void> {
  const { shared, client, random, party } = user
  const receiver = shared.parties[random.below(shared.parties.length)]
  if (receiver === undefined || receiver === party) return
  user.transferCount += 1
  const reference = `${shared.prefix}-${client}-${user.transferCount}`
  const expires_at = shared.clock.nowMicros() + OFFER_MICROS
  const offer = { amount: TRANSFER_AMOUNT, description: '', expires_at }
  const body = { receiver_party_id: receiver, ...offer, tracking_id: reference }
  const contractOf = (answer: unknown) => memberOf(answer, 'output', 'transfer_instruction_cid')
  await write(user, 'transfer', { path: OFFERS, reference, body }, contractOf)
}

async function acceptTransfer(user: User): Promise<void> {
  const offer = listIn(await user.send(OFFERS), 'transfers').find(
    ({ payload }) => memberOf(payload, 'transfer', 'receiver') === user.party,
  )
  const id = offer?.['contract_id']
  if (typeof id !== 'string') return
  const sent = { path: `${OFFERS}/${id}/accept`, body: {}, reference: id }
  await write(user, 'accept-transfer', sent, () => id)
}

/** Renews a subscription whose window is open, if there is one. */
async function renew(user: User): Promise<void> {
  const nowMicros = user.shared.clock.nowMicros()
  const open = listIn(await user.send('/v0/wallet/subscriptions'), 'subscriptions').filter(
    ({ auto_renew: isAuto, state }) => {
      const { nextPaymentDueAt, payData } = membersOf(memberOf(state, 'idle', 'payload'))
      const { microseconds } = membersOf(memberOf(payData, 'paymentDuration'))
      const dueAt = parseTime(String(nextPaymentDueAt)) ?? 0
      return isAuto === false && dueAt - Number(microseconds) <= nowMicros
    },
  )
  const chosen = open[user.random.below(Math.max(1, open.length))]
  const reference = memberOf(chosen?.['subscription'], 'contract_id')
  if (typeof reference !== 'string') return
  const sent = { path: `/v0/wallet/subscriptions/${reference}/pay`, body: {}, reference }
  await write(user, 'renew', sent, (body) => memberOf(body, 'payment_contract_id'))
}

async function stream(user: User): Promise<void> {
  const { shared, client, party, send, streamedThrough: beginExclusive } = user
  const startMs = shared.nowMs()
  const endInclusive = Number(memberOf((await send('/v2/state/ledger-end')).body, 'offset'))
  if (!Number.isSafeInteger(endInclusive) || endInclusive <= beginExclusive) return
  const answer = await send(`/v2/updates?limit=${STREAM_PAGE}&stream_idle_timeout_ms=500`, {
    beginExclusive,
    endInclusive,
    verbose: false,
    updateFormat: {
      includeTransactions: {
        eventFormat: { filtersByParty: { [party]: {} }, verbose: false },
        transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
      },
    },
  })
  if (answer.status !== 200 || !Array.isArray(answer.body)) return
  const updates = answer.body.flatMap((item: unknown) => {
    const { offset, updateId } = membersOf(memberOf(item, 'update', 'Transaction', 'value'))
    return typeof updateId === 'string' ? [{ offset: Number(offset), updateId }] : []
  })
  const isWhole = answer.body.length < STREAM_PAGE
  const throughOffset = isWhole ? endInclusive : (updates.at(-1)?.offset ?? beginExclusive)
  user.streamedThrough = throughOffset
  const covered = { party, beginExclusive, throughOffset, updates }
  shared.record({ kind: 'stream', client, startMs, endMs: shared.nowMs(), ...covered })
}

/** The objects of a list in an answer; empty without such a list. */
function listIn({ body }: HttpReply, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list: unknown = membersOf(body)[name]
  return Array.isArray(list) ? list.map(Object) : []
}

function outcomeOf(answer: HttpReply): WriteOutcome {
  if (answer.status === 200) return 'acknowledged'
  return memberOf(answer.body, 'definite') === true ? 'refused' : 'unknown'
}

function codeOf(answer: HttpReply): string | null {
  if (answer.status === 200) return null
  const code = memberOf(answer.body, 'code')
  if (typeof code === 'string') return code
  return answer.status === null ? 'UNREACHABLE' : `HTTP_${answer.status}`
}
