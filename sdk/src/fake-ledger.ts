/**
 * The validator of a fake wallet: the routes that the SDK calls, over contracts in memory. Each request that pays executes
 * once for its id, as at the real one, and the ledger interface shows its transaction.
 */
import {
  formatInstant,
  membersOf,
  PAYMENT_EXPIRY_MICROS_MAX,
  toHex,
  utf8,
} from '@quorumscan/verifier'
import { sha256 } from '@quorumscan/verifier/certified'
import type { FakeErrorCode } from './generated/error-facts.ts'
import { microsOf } from './platform/times.ts'
import { addAmounts, compareAmounts } from './platform/values.ts'

type Json = Readonly<Record<string, unknown>>
/** An event of a transaction. */
type FakeEvent =
  | { readonly kind: 'created'; readonly contractId: string; readonly payload: Json }
  | {
      readonly kind: 'exercised'
      readonly contractId: string
      readonly choice: string
      readonly result: Json
    }
type Entry = { readonly name: string; readonly url: string; readonly description: string }
type Made = { readonly offset: number; readonly recordTime: string; readonly updateId: string }

/** An error that the validator answers. */
export class Refusal extends Error {
  readonly code: FakeErrorCode
  readonly details: Json | null

  constructor(code: FakeErrorCode, message: string, details: Json | null = null) {
    super(message)
    this.code = code
    this.details = details
  }
}

const UNITS = 10n ** 10n
/** A coin is worth 0.005 USD, and a name costs 1 USD. */
const COINS_PER_USD = 200n
const NAME_COIN = '200.0'
const DAY_MICROS = 86_400_000_000
/** What a payment of a name adds, and how long before its end the next one can be made. */
const PERIOD_MICROS = 90 * DAY_MICROS
const ZERO = '0.0000000000'
const PACKAGE = `${'f'.repeat(64)}:Fake:`
/** The party of the operator, which is paid for names. */
const OPERATOR = `DSO::1220${'d'.repeat(64)}`

const minus = (amount: string) => `-${addAmounts(amount)}`
function coinOf(usd: string): string {
  const units = BigInt(addAmounts(usd).replace('.', '')) * COINS_PER_USD
  return `${units / UNITS}.${String(units % UNITS).padStart(10, '0')}`
}

/** The newest offset of a fake network, which names and transactions share. */
export type FakeHead = { offset: number }

/** @param parts.onName - The user owns the name from now on. */
export function createFakeLedger(parts: {
  readonly party: string
  readonly head: FakeHead
  readonly nowMicros: () => number
  readonly onName: (entry: Entry & { readonly expiresMicros: number }) => void
  readonly ownerOf: (name: string) => string | null
}) {
  const { party, head, nowMicros, onName } = parts
  let count = 0
  let [unlocked, locked] = [ZERO, ZERO]
  const contracts = new Map<string, { made: Made; ended: number | null; payload: Json }>()
  const transactions: (Made & { commandId: string; events: readonly FakeEvent[] })[] = []
  /** Newest first. */
  const history: Json[] = []
  const results = new Map<string, { content: string; result: Json }>()
  const subscriptions = new Map<
    string,
    { entry: Entry; stateCid: string; dueAt: number; autoRenew: boolean }
  >()

  const nextId = () => `00${(++count).toString(16).padStart(64, '0')}`
  const move = (toUnlocked: string, toLocked: string) => {
    unlocked = addAmounts(unlocked, toUnlocked)
    locked = addAmounts(locked, toLocked)
  }
  const pay = (coin: string) => {
    if (compareAmounts(unlocked, coin) < 0)
      throw new Refusal('INSUFFICIENT_FUNDS', `The user has ${unlocked} coin, not ${coin}.`)
  }
  const commit = (commandId: string, events: readonly FakeEvent[]): Made => {
    const offset = ++head.offset
    const made = { offset, recordTime: formatInstant(nowMicros()), updateId: `update-${offset}` }
    transactions.push({ ...made, commandId, events })
    for (const event of events) {
      if (event.kind === 'created')
        contracts.set(event.contractId, { made, ended: null, payload: event.payload })
      else {
        const consumed = contracts.get(event.contractId)
        if (consumed !== undefined) consumed.ended = offset
      }
    }
    return made
  }
  const remember = ({ offset, recordTime: date }: Made, item: Json) =>
    history.unshift({ event_id: `${String(offset).padStart(16, '0')}:0000`, date, ...item })
  const subtype = (choice: string) => ({
    transaction_subtype: {
      template_id: `${PACKAGE}Fake`,
      choice,
      coin_operation: null,
      interface_id: null,
    },
  })

  const contractOf = (contractId: string) => {
    const { payload = {}, made } = contracts.get(contractId) ?? {}
    const created_at = made?.recordTime
    const template_id = `${PACKAGE}Fake`
    return { contract_id: contractId, template_id, payload, created_event_blob: '', created_at }
  }
  const active = (is: (payload: Json) => boolean) =>
    [...contracts].filter(([, { ended, payload }]) => ended === null && is(payload))
  /** @throws {Refusal} CONTRACT_NOT_FOUND. */
  const open = (contractId: string): Json => {
    const found = contracts.get(contractId)
    if (found?.ended === null) return found.payload
    throw new Refusal('CONTRACT_NOT_FOUND', `There is no contract ${contractId}.`)
  }

  /** Executes once for each id. A repeat with other content is refused. */
  const once = (
    id: string,
    content: unknown,
    run: () => Json,
  ): { isRepeat: boolean; result: Json } => {
    const [first, text] = [results.get(id), JSON.stringify(content)]
    if (first !== undefined && first.content !== text)
      throw new Refusal('PAYMENT_DIFFERS', 'The id belongs to a payment with other content.')
    const result = first?.result ?? run()
    results.set(id, { content: text, result })
    return { isRepeat: first !== undefined, result }
  }
  const transferAnswer = (made: Made, output: Json) => ({
    output,
    sender_change_cids: [],
    meta: { update_id: made.updateId, offset: String(made.offset), record_time: made.recordTime },
  })
  const refuseRepeat = ({ isRepeat, result }: { isRepeat: boolean; result: Json }): Json => {
    if (!isRepeat) return result
    const { update_id, offset, record_time } = membersOf(result['meta'])
    const details = { result, update_id, offset, record_time }
    throw new Refusal('DUPLICATE_COMMAND', 'It took effect before.', details)
  }

  /** @param row.change - Of the balance of the sender, locked coin included. */
  const showTransfer = (
    made: Made,
    choice: string,
    row: {
      readonly sender: unknown
      readonly change: string
      readonly receiver: unknown
      readonly coin: string
      readonly more?: Json
    },
  ) =>
    remember(made, {
      transaction_type: 'transfer',
      ...subtype(choice),
      sender: { party: row.sender, amount: row.change },
      receivers: [{ party: row.receiver, amount: row.coin }],
      holding_fees: ZERO,
      app_rewards_used: ZERO,
      validator_rewards_used: ZERO,
      sv_rewards_used: ZERO,
      development_fund_coupons_used: ZERO,
      transfer_instruction_receiver: null,
      transfer_instruction_amount: null,
      transfer_instruction_cid: null,
      description: null,
      ...row.more,
    })
  const showChange = (
    made: Made,
    choice: string,
    row: { readonly receivers?: readonly Json[]; readonly offer?: string },
  ) => {
    const { receivers = [], offer = null } = row
    const kind = { transaction_type: 'balance_change', ...subtype(choice) }
    remember(made, { ...kind, receivers, transfer_instruction_cid: offer })
  }

  /** Offers coin, or moves it at once to the user itself. */
  const offer = (commandId: string, input: Json): Json => {
    const { sender, receiver, amount, executeBefore } = input
    const coin = addAmounts(String(amount))
    if (sender === party) pay(coin)
    const contractId = nextId()
    if (sender === receiver) {
      const choice = 'CoinRules_Transfer'
      const result = { createdCoins: [contractId] }
      const made = commit(commandId, [
        { kind: 'exercised', contractId: '', choice, result },
        { kind: 'created', contractId, payload: { owner: party, amount: coin } },
      ])
      showTransfer(made, choice, { sender, change: ZERO, receiver, coin })
      return transferAnswer(made, { receiver_holding_cids: [contractId] })
    }
    if (sender === party) move(minus(coin), coin)
    const choice = 'CoinRules_CreateTransferInstruction'
    const requestedAt = formatInstant(nowMicros())
    const transfer = {
      ...input,
      amount: coin,
      requestedAt,
      executeBefore: formatInstant(Number(executeBefore)),
    }
    const result = { transferInstructionCid: contractId }
    const made = commit(commandId, [
      { kind: 'exercised', contractId: '', choice, result },
      { kind: 'created', contractId, payload: { transfer } },
    ])
    // The coin is locked, and stays the sender's: the receiver's history has the offer, too.
    showTransfer(made, choice, {
      sender,
      change: ZERO,
      receiver: sender,
      coin,
      more: {
        transfer_instruction_receiver: receiver,
        transfer_instruction_amount: coin,
        transfer_instruction_cid: contractId,
        description: input['description'] === '' ? null : input['description'],
      },
    })
    return transferAnswer(made, { transfer_instruction_cid: contractId })
  }

  const ENDS = {
    accept: 'TransferInstruction_Accept',
    reject: 'TransferInstruction_Reject',
    withdraw: 'TransferInstruction_Withdraw',
    expire: 'TransferInstruction_Expire',
  } as const

  /** @param by - The party that ends it; null: it has expired. */
  const end = (contractId: string, how: keyof typeof ENDS, by: string | null): Json => {
    const { sender, receiver, amount } = membersOf(open(contractId)['transfer'])
    const [choice, coin] = [ENDS[how], String(amount)]
    const isAccepted = how === 'accept'
    if (sender === party) move(isAccepted ? ZERO : coin, minus(coin))
    else if (isAccepted) move(coin, ZERO)
    const holding = nextId()
    const result = isAccepted ? { receiverHoldings: [holding] } : { senderHoldings: [holding] }
    const commandId = by === party ? `${how}-transfer-${contractId}` : ''
    const made = commit(commandId, [{ kind: 'exercised', contractId, choice, result }])
    if (isAccepted) {
      const more = { transfer_instruction_cid: contractId }
      showTransfer(made, choice, { sender, change: minus(coin), receiver, coin, more })
    } else showChange(made, choice, { offer: contractId })
    return transferAnswer(made, isAccepted ? { receiver_holding_cids: [holding] } : {})
  }

  /** The receiver or the sender ends an offer. */
  const answer = (contractId: string, how: Exclude<keyof typeof ENDS, 'expire'>, by: string) => {
    const answered = once(`${how}-transfer-${contractId}`, null, () => {
      const { sender, receiver } = membersOf(open(contractId)['transfer'])
      if (by !== (how === 'withdraw' ? sender : receiver))
        throw new Refusal('PERMISSION_DENIED', `${by} may not ${how} this offer.`)
      return end(contractId, how, by)
    })
    return by === party ? refuseRepeat(answered) : answered.result
  }

  /** Ends offers that have expired, as the validator does. */
  const sweep = () => {
    for (const [contractId, { payload }] of active((payload) => 'transfer' in payload)) {
      const { executeBefore } = membersOf(payload['transfer'])
      if (microsOf(String(executeBefore)) <= nowMicros()) end(contractId, 'expire', null)
    }
  }

  const tap = (usd: string, commandId: string): Json =>
    once(commandId, usd, () => {
      const coin = coinOf(usd)
      move(coin, ZERO)
      const contractId = nextId()
      const choice = 'CoinRules_DevNet_Tap'
      const made = commit(commandId, [
        { kind: 'exercised', contractId: '', choice, result: { coinCid: contractId } },
        { kind: 'created', contractId, payload: { owner: party, amount: coin } },
      ])
      showChange(made, choice, { receivers: [{ party, amount: coin }] })
      const { offset, recordTime, updateId } = made
      return { contract_id: contractId, update_id: updateId, offset, record_time: recordTime }
    }).result

  /**
   * The coin of a name or a period is locked, and collected at once.
   *
   * @param paid.dueBefore - When the paid period ends; null: the name is new.
   */
  const collect = (
    name: string,
    paid: {
      readonly contractId: string
      readonly choice: string
      readonly dueBefore: number | null
    },
    more: readonly FakeEvent[],
  ) => {
    const { contractId, choice, dueBefore } = paid
    const coin = addAmounts(NAME_COIN)
    pay(coin)
    const [paymentCid, stateCid] = [nextId(), nextId()]
    const payment = { reference: contractId, subscriptionData: dataOf(name) }
    const locked = commit('', [
      { kind: 'exercised', contractId, choice, result: { paymentCid } },
      { kind: 'created', contractId: paymentCid, payload: payment },
    ])
    showTransfer(locked, choice, { sender: party, change: ZERO, receiver: party, coin })
    const dueAt = (dueBefore ?? nowMicros()) + PERIOD_MICROS
    const state = {
      nextPaymentDueAt: formatInstant(dueAt),
      payData: PAY_DATA,
      reference: contractId,
    }
    const [collecting, step] =
      dueBefore === null
        ? ['SubscriptionInitialPayment_Collect', 'AnsRules_CollectInitialEntryPayment']
        : ['SubscriptionPayment_Collect', 'AnsRules_CollectEntryRenewalPayment']
    const collected = commit('', [
      { kind: 'exercised', contractId: paymentCid, choice: collecting, result: {} },
      { kind: 'created', contractId: stateCid, payload: state },
      ...more,
    ])
    move(minus(coin), ZERO)
    showTransfer(collected, step, { sender: party, change: minus(coin), receiver: OPERATOR, coin })
    return { paymentCid, stateCid, dueAt }
  }
  const PAY_DATA = { paymentDuration: { microseconds: String(PERIOD_MICROS) } }
  const dataOf = (name: string) => ({ sender: party, description: `Name entry: "${name}"` })

  const request = (body: Json): Json => {
    const name = String(body['name'])
    const owner = parts.ownerOf(name)
    if (owner !== null) throw new Refusal('NAME_TAKEN', `${name} belongs to ${owner}.`, { name })
    const [requestCid, contextCid] = [nextId(), nextId()]
    const entry = {
      name,
      url: String(body['url'] ?? ''),
      description: String(body['description'] ?? ''),
    }
    commit('', [
      {
        kind: 'created',
        contractId: requestCid,
        payload: { subscriptionData: dataOf(name), request: true },
      },
      { kind: 'created', contractId: contextCid, payload: { ...entry, reference: requestCid } },
    ])
    return { entryContextCid: contextCid, subscriptionRequestCid: requestCid, ...entry }
  }
  const entryOf = (requestCid: string) =>
    [...contracts.values()].find(
      ({ payload }) => payload['reference'] === requestCid && 'url' in payload,
    )?.payload ?? {}

  const accept = (requestCid: string, body: Json): Json => {
    open(requestCid)
    const { name, url, description } = entryOf(requestCid)
    const entry = { name: String(name), url: String(url), description: String(description) }
    const contractId = nextId()
    const payload = { ...entry, user: party, expiresAt: formatInstant(nowMicros() + PERIOD_MICROS) }
    const choice = 'SubscriptionRequest_AcceptAndMakePayment'
    const created: FakeEvent = { kind: 'created', contractId, payload }
    const paid = { contractId: requestCid, choice, dueBefore: null }
    const { paymentCid, stateCid, dueAt } = collect(entry.name, paid, [created])
    subscriptions.set(entry.name, {
      entry,
      stateCid,
      dueAt,
      autoRenew: body['auto_renew'] === true,
    })
    onName({ ...entry, expiresMicros: dueAt })
    return { initial_payment_contract_id: paymentCid }
  }
  /** @param contractId - Of the idle state, which is paid once. */
  const renew = (contractId: string): Json => {
    open(contractId)
    const [name, before] = [...subscriptions].find(([, one]) => one.stateCid === contractId) ?? []
    if (name === undefined || before === undefined)
      throw new Refusal('CONTRACT_NOT_FOUND', contractId)
    const opensAt = before.dueAt - PERIOD_MICROS
    if (nowMicros() < opensAt || nowMicros() >= before.dueAt) {
      const [window_opens_at, window_ends_at] = [opensAt, before.dueAt].map(formatInstant)
      const message = `The renewal can be paid from ${window_opens_at} until ${window_ends_at}.`
      throw new Refusal('CHOICE_REFUSED', message, { window_opens_at, window_ends_at })
    }
    const choice = 'SubscriptionIdleState_MakePayment'
    const paid = { contractId, choice, dueBefore: before.dueAt }
    const { paymentCid, stateCid, dueAt } = collect(name, paid, [])
    subscriptions.set(name, { ...before, stateCid, dueAt })
    onName({ ...before.entry, expiresMicros: dueAt })
    return { payment_contract_id: paymentCid }
  }

  const ledgerEvent = (event: FakeEvent, offset: number, nodeId: number) => {
    const { contractId } = event
    const shared = {
      offset,
      nodeId,
      contractId,
      templateId: 't',
      packageName: 'fake',
      witnessParties: [],
    }
    if (event.kind === 'created') {
      const texts = {
        contractKeyHash: '',
        createdEventBlob: '',
        createdAt: '',
        representativePackageId: '',
      }
      const none = { contractKey: null, interfaceViews: [], signatories: [], observers: [] }
      return {
        CreatedEvent: {
          ...shared,
          ...texts,
          ...none,
          acsDelta: true,
          createArgument: event.payload,
        },
      }
    }
    const { choice, result } = event
    const none = {
      interfaceId: null,
      choiceArgument: {},
      actingParties: [],
      implementedInterfaces: [],
    }
    const isConsuming = contractId !== ''
    const node = { lastDescendantNodeId: nodeId, acsDelta: true, consuming: isConsuming }
    return { ExercisedEvent: { ...shared, ...none, ...node, choice, exerciseResult: result } }
  }
  const ledgerTransaction = (transaction: (typeof transactions)[number]) => {
    const { events, ...made } = transaction
    const none = {
      workflowId: '',
      traceContext: null,
      externalTransactionHash: null,
      paidTrafficCost: null,
    }
    const all = events.map((event, index) => ledgerEvent(event, made.offset, index))
    return { ...made, ...none, effectiveAt: made.recordTime, synchronizerId: 'fake', events: all }
  }
  const contractEvents = (contractId: string): Json => {
    const found = contracts.get(contractId)
    if (found === undefined) throw new Refusal('CONTRACT_EVENTS_NOT_FOUND', contractId)
    const event = { kind: 'created', contractId, payload: found.payload } as const
    const createdEvent = membersOf(ledgerEvent(event, found.made.offset, 0))['CreatedEvent']
    const archivedEvent = {
      ...membersOf(createdEvent),
      offset: found.ended,
      implementedInterfaces: [],
    }
    const archived = found.ended === null ? null : { archivedEvent, synchronizerId: 'fake' }
    return { created: { createdEvent, synchronizerId: 'fake' }, archived }
  }

  return {
    end: () => head.offset,
    give: (coin: string) => move(addAmounts(coin), ZERO),
    sweep,
    offer,
    /** A transfer of the user, as the validator takes it. */
    transfer(body: Json): Json {
      const { receiver_party_id: receiver, amount, description, tracking_id: trackingId } = body
      const executeBefore = Number(body['expires_at'])
      const id = `transfer-${toHex(sha256(utf8(String(trackingId))))}`
      const transfer = { sender: party, receiver, amount, executeBefore, description, trackingId }
      const offered = once(id, body, () => {
        const leftMicros = executeBefore - nowMicros()
        if (leftMicros <= 0)
          throw new Refusal('INVALID_ARGUMENT', 'body.expires_at must be in the future')
        if (leftMicros > PAYMENT_EXPIRY_MICROS_MAX)
          throw new Refusal('INVALID_ARGUMENT', 'body.expires_at must be at most 30 days ahead')
        return offer(id, transfer)
      })
      return refuseRepeat(offered)
    },
    answer,
    tap,
    request,
    accept,
    reject(requestCid: string): Json {
      open(requestCid)
      commit('', [
        {
          kind: 'exercised',
          contractId: requestCid,
          choice: 'SubscriptionRequest_Reject',
          result: {},
        },
      ])
      return {}
    },
    renew,
    cancel(stateCid: string): Json {
      open(stateCid)
      commit('', [
        {
          kind: 'exercised',
          contractId: stateCid,
          choice: 'SubscriptionIdleState_Cancel',
          result: {},
        },
      ])
      for (const [name, one] of subscriptions)
        if (one.stateCid === stateCid) subscriptions.delete(name)
      return {}
    },
    setAutoRenew(stateCid: string, isEnabled: boolean): Json {
      for (const one of subscriptions.values())
        if (one.stateCid === stateCid) one.autoRenew = isEnabled
      return { auto_renew: isEnabled }
    },
    balance: () => ({
      round: 1,
      effective_unlocked_qty: unlocked,
      effective_locked_qty: locked,
      total_holding_fees: ZERO,
    }),
    /** All in one page. */
    transfers(query: { readonly sender: string | null; readonly order: string | null }) {
      const isShown = (transfer: Json) =>
        query.sender === null || transfer['sender'] === query.sender
      const found = active(({ transfer }) => transfer !== undefined && isShown(membersOf(transfer)))
      const transfers = found.reverse().map(([id]) => contractOf(id))
      const amountOf = ({ payload }: (typeof transfers)[number]) =>
        String(membersOf(payload['transfer'])['amount'])
      if (query.order === 'amount')
        transfers.sort((a, b) => compareAmounts(amountOf(b), amountOf(a)))
      return { transfers, next_page_token: null }
    },
    requests: () => ({
      subscription_requests: active((payload) => payload['request'] === true).map(([id]) =>
        contractOf(id),
      ),
    }),
    contract(contractId: string) {
      open(contractId)
      return contractOf(contractId)
    },
    history: (pageSize: number, after: unknown) => {
      const first = after == null ? 0 : history.findIndex((row) => row['event_id'] === after) + 1
      return { items: history.slice(first, first + pageSize) }
    },
    entries() {
      const live = [...subscriptions].filter(([, { dueAt }]) => dueAt > nowMicros())
      const entries = live.map(([name, { stateCid, dueAt }]) => ({
        contractId: stateCid,
        name,
        amount: '1.0000000000',
        unit: 'USDUnit',
        expiresAt: String(Math.floor(dueAt / 1000)),
        paymentInterval: String(PERIOD_MICROS),
        paymentDuration: String(PERIOD_MICROS),
      }))
      return { entries, next_page_token: null }
    },
    subscriptions: () => ({
      subscriptions: [...subscriptions].map(([name, { stateCid, autoRenew }]) => {
        const idle = contractOf(stateCid)
        const subscription = { ...idle, payload: { subscriptionData: dataOf(name) } }
        return { subscription, state: { idle }, auto_renew: autoRenew }
      }),
      next_page_token: null,
    }),
    updates: (after: number, upTo: number) =>
      transactions
        .filter(({ offset }) => offset > after && offset <= upTo)
        .map((value) => ({ update: { Transaction: { value: ledgerTransaction(value) } } })),
    contractEvents,
  }
}
