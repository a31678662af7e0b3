/**
 * Grows the log that `record-log.mjs` records: a random log, and a story of what random steps do not reach. A recorded
 * log is replayed and never grown again, so this file may change with the ledger.
 */
import { utf8 } from '@quorumscan/base'
import {
  acceptRequestCommand,
  acceptTransferCommand,
  allocatePartyCommand,
  ansEntryContext,
  ansRules,
  cancelSubscriptionCommand,
  coin,
  coinRules,
  collectRenewalCommand,
  confirmSetConfigCommand,
  confirmSetProtocolVersionCommand,
  createTransferInstructionCommand,
  dsoRules,
  expirePaymentCommand,
  expireRequestCommand,
  expireSubscriptionCommand,
  expireTransferCommand,
  lockedCoin,
  makePaymentCommand,
  NEWEST_RULES,
  payloadOf,
  refundPaymentCommand,
  rejectRequestCommand,
  rejectTransferCommand,
  requestEntryCommand,
  subscriptionIdleState,
  subscriptionRequest,
  tapCommand,
  templateRef,
  terminatedSubscription,
  transferCommand,
  withdrawTransferCommand,
} from '@quorumscan/ledger'
import {
  type Actor,
  amountOf,
  createEntrySigner,
  outcomeOf,
  type Scenario,
} from '@quorumscan/ledger/testing'
import type { Command, ContractId, EntryResult } from '@quorumscan/model'
import { growRandomLog } from '@quorumscan/replica/testing'
import { testKeyPair } from '@quorumscan/testkit'
import { formatInstant } from '@quorumscan/verifier'

const SECOND = 1_000_000
const RANDOM_STEPS = 220
/** What `growRandomLog` gives its network. */
const LIFETIME = 120 * SECOND
const LOCK = 135 * SECOND
const NOTHING = `00${'ee'.repeat(32)}`

export function growLog(): Scenario {
  const scenario = growRandomLog('recorded log', RANDOM_STEPS)
  const dora = scenario.actor('dora', 'home')
  const emil = scenario.actor('emil', 'home')
  locksOf(scenario, dora, emil)
  offersOf(scenario, dora, emil)
  subscriptionsOf(scenario, dora, emil)
  votesOf(scenario)
  addressesOf(scenario)
  refusalsOf(scenario, dora, emil)
  ignoredOf(scenario, dora)
  scenario.ledger.advance(SECOND)
  return scenario
}

function locksOf(scenario: Scenario, owner: Actor, holder: Actor): void {
  const lockFor = (holders: readonly string[]): ContractId => {
    const expiresAt = formatInstant(scenario.ledger.head().recordTime + 10 * SECOND)
    const lock = { holders, expiresAt, optContext: 'ſ' }
    const { createdCoins } = resultIn(scenario, owner, [holder], {
      kind: 'exercise',
      template: templateRef(coinRules),
      contractId: scenario.the(coinRules),
      choice: 'CoinRules_Transfer',
      argument: {
        sender: owner.party,
        inputs: [scenario.tap(owner, '12.5')],
        outputs: [{ receiver: owner.party, amount: '2.5000000000', lock }],
      },
    })
    return (createdCoins as ContractId[])[0] as ContractId
  }
  const onLock = (contractId: ContractId, choice: string): Command => ({
    kind: 'exercise',
    template: templateRef(lockedCoin),
    contractId,
    choice,
    argument: {},
  })
  resultIn(scenario, owner, [holder], onLock(lockFor([holder.party]), 'LockedCoin_Unlock'))
  const own = lockFor([owner.party])
  expectOutcome('CHOICE_REFUSED', scenario.submit(owner, onLock(own, 'LockedCoin_OwnerExpireLock')))
  scenario.ledger.advance(10 * SECOND)
  scenario.do(owner, onLock(own, 'LockedCoin_OwnerExpireLock'))
}

function offersOf(scenario: Scenario, from: Actor, to: Actor): void {
  const offer = (): ContractId => {
    const command = createTransferInstructionCommand({
      coinRules: scenario.the(coinRules),
      sender: from.party,
      receiver: to.party,
      amount: amountOf('7.0000000001'),
      inputs: [scenario.tap(from, '20')],
      executeBefore: scenario.ledger.head().recordTime + 20 * SECOND,
      description: 'thank you \u{1f600}',
      trackingId: 'tracking',
    })
    return scenario.do(from, command)['transferInstructionCid'] as ContractId
  }
  scenario.do(to, acceptTransferCommand({ instruction: offer() }))
  scenario.do(to, rejectTransferCommand({ instruction: offer() }))
  scenario.do(from, withdrawTransferCommand({ instruction: offer() }))
  const late = offer()
  scenario.ledger.advance(20 * SECOND)
  expectOutcome('CHOICE_REFUSED', scenario.submit(to, acceptTransferCommand({ instruction: late })))
  scenario.do(to, expireTransferCommand({ instruction: late, actor: to.party }))
  // These stay, one of them beyond its end.
  offer()
  offer()
  // A transfer that two parties of one participant submit together.
  const command = transferCommand({
    coinRules: scenario.the(coinRules),
    sender: from.party,
    inputs: scenario.coins(from).slice(0, 2),
    outputs: [{ receiver: to.party, amount: amountOf('0.0000000001') }],
  })
  resultIn(scenario, from, [to], command)
}

function subscriptionsOf(scenario: Scenario, user: Actor, rival: Actor): void {
  const { ledger } = scenario
  const [sv] = scenario.svs as [Actor]
  const bySv = { dsoRules: scenario.the(dsoRules), sv: sv.party }
  const name = (label: string) => `${label}.unverified.ns`
  const pay = (label: string, actor = user) => {
    scenario.tap(actor, '250')
    return scenario.pay(actor, name(label))
  }
  const idleOf = (actor: Actor): ContractId => {
    const own = ledger
      .all(subscriptionIdleState)
      .filter(({ payload }) => payload.subscriptionData.sender === actor.party)
    return own[0]?.contractId as ContractId
  }

  const rejected = scenario.request(user, name('rejected'))
  scenario.do(user, rejectRequestCommand({ request: rejected.request }))
  // The owner cleans up by its own authority.
  const [marker] = ledger
    .all(terminatedSubscription)
    .filter(({ payload }) => payload.reference === rejected.request)
  scenario.do(user, {
    kind: 'exercise',
    template: templateRef(ansEntryContext),
    contractId: rejected.context,
    choice: 'AnsEntryContext_Terminate',
    argument: { actor: user.party, terminatedSubscription: marker?.contractId as ContractId },
  })
  const unpaid = scenario.request(user, name('unpaid')).request
  ledger.advance(60 * SECOND)
  scenario.do(sv, expireRequestCommand({ ...bySv, request: unpaid }))

  // Two pay for one name: the second gets its coin back.
  const first = pay('contested')
  const second = pay('contested', rival)
  scenario.resolve(first.payment)
  scenario.resolve(second.payment)

  // The lock of two payments ends, with a vote for one of them.
  const refunds = [pay('late-1'), pay('late-2')]
  scenario.confirm(3, refunds[0]?.payment as ContractId)
  ledger.advance(LOCK)
  const [own, byMember] = refunds.map(({ payment }) => payment) as [ContractId, ContractId]
  scenario.do(
    user,
    refundPaymentCommand({ payment: own, paymentKind: 'initial', actor: user.party }),
  )
  scenario.do(sv, expirePaymentCommand({ ...bySv, payment: byMember }))

  // A name that is renewed, then paid for without being collected in time, and that ends.
  const kept = { actor: scenario.actor('kept') }
  scenario.register(kept.actor, name('kept'))
  ledger.advance(LIFETIME / 2)
  scenario.tap(kept.actor, '500')
  const renew = () =>
    scenario.do(
      kept.actor,
      makePaymentCommand({ idle: idleOf(kept.actor), inputs: scenario.coins(kept.actor) }),
    )['paymentCid'] as ContractId
  scenario.do(sv, collectRenewalCommand({ ...bySv, payment: renew() }))
  ledger.advance(LIFETIME)
  const missed = renew()
  ledger.advance(LOCK)
  expectOutcome(
    'CHOICE_REFUSED',
    scenario.submit(sv, collectRenewalCommand({ ...bySv, payment: missed })),
  )
  scenario.do(sv, expirePaymentCommand({ ...bySv, payment: missed }))
  const [expired] = ledger.byKey(`name:${name('kept')}`)
  scenario.do(kept.actor, {
    kind: 'exercise',
    template: '#quorumscan-name-service:Ans:AnsEntry',
    contractId: expired?.contractId as ContractId,
    choice: 'AnsEntry_Expire',
    argument: { actor: kept.actor.party },
  })
  scenario.do(sv, expireSubscriptionCommand({ ...bySv, idle: idleOf(kept.actor) }))

  const ended = scenario.actor('ended')
  scenario.register(ended, name('ended'))
  scenario.do(ended, cancelSubscriptionCommand({ idle: idleOf(ended) }))
}

/** A new config, and the next version of the protocol, which a second vote cancels. */
function votesOf(scenario: Scenario): void {
  const { ledger, svs } = scenario
  const [rules] = ledger.byKey('singleton:AnsRules')
  if (rules === undefined) throw new Error('the genesis creates AnsRules')
  const { config } = payloadOf(ansRules, rules)
  const configVote = (index: number, fee: string) => {
    const sv = svs[index] as Actor
    const command = confirmSetConfigCommand({
      dsoRules: scenario.the(dsoRules),
      confirmer: sv.party,
      ansRules: rules.contractId,
      config: { ...config, entryFee: amountOf(fee) },
    })
    return scenario.submit(sv, command)
  }
  // Another proposal replaces the first one of the same member; a repeated vote changes nothing.
  for (const [index, fee] of [
    [0, '9'],
    [0, '2'],
    [1, '2'],
    [1, '2'],
    [2, '2'],
  ] as const)
    expectOutcome('accepted', configVote(index, fee))
  const versionVote = (index: number, version: number, notBefore: number | null) => {
    const sv = svs[index] as Actor
    const command = confirmSetProtocolVersionCommand({
      dsoRules: scenario.the(dsoRules),
      confirmer: sv.party,
      version,
      notBefore,
    })
    return scenario.submit(sv, command)
  }
  const { version } = NEWEST_RULES
  const notBefore = ledger.head().recordTime + 86_400 * SECOND
  expectOutcome('INVALID_ARGUMENT', versionVote(0, version - 1, null))
  for (const index of [0, 1, 2])
    expectOutcome('accepted', versionVote(index, version + 1, notBefore))
  for (const index of [1, 2, 3]) expectOutcome('accepted', versionVote(index, version, null))
  // It stays open.
  expectOutcome('accepted', versionVote(3, version + 1, notBefore))
}

function addressesOf(scenario: Scenario): void {
  for (const [sequence, expected] of [
    [2000, 'accepted'],
    [2000, 'CHOICE_REFUSED'],
    [2001, 'CHOICE_REFUSED'],
  ] as const)
    expectOutcome(expected, scenario.publish(1, { sequence }))
  scenario.ledger.advance(10 * SECOND)
  expectOutcome('accepted', scenario.publish(1, { sequence: 2002 }))
  expectOutcome('INVALID_ARGUMENT', scenario.publish(2, { sequence: 9000, signedUrl: 'http://a' }))
  expectOutcome('INVALID_URL', scenario.publish(2, { sequence: 9001, url: 'ftp://a' }))
}

/** A refusal with each code that can occur, and each kind of command. */
function refusalsOf(scenario: Scenario, actor: Actor, other: Actor): void {
  const rules = scenario.the(coinRules)
  const tap = tapCommand({ coinRules: rules, receiver: actor.party, amount: amountOf('1') })
  const expected = (
    code: string,
    commands: Command | readonly Command[],
    more: Parameters<Scenario['submit']>[2] = {},
  ) => expectOutcome(code, scenario.submit(actor, commands, more))
  const request = (fields: { name?: string; url?: string; description?: string }) =>
    requestEntryCommand({
      ansRules: scenario.the(ansRules),
      user: actor.party,
      name: 'fields.unverified.ns',
      url: '',
      description: '',
      ...fields,
    })
  const exercise = (change: Partial<Extract<Command, { kind: 'exercise' }>>): Command => ({
    ...tap,
    ...change,
  })
  expected('NAME_SUFFIX_MISSING', request({ name: 'fields' }))
  expected('INVALID_NAME', request({ name: 'Größe.unverified.ns' }))
  expected('INVALID_URL', request({ url: 'ftp://example.org' }))
  expected('INVALID_DESCRIPTION', request({ description: 'x'.repeat(1000) }))
  expected('NAME_TAKEN', request({ name: 'ended.unverified.ns' }))

  expected('INVALID_ARGUMENT', exercise({ template: '#quorumscan-coin:Coin:Nothing' }))
  expected('INVALID_ARGUMENT', exercise({ choice: 'CoinRules_Nothing' }))
  expected('INVALID_ARGUMENT', exercise({ argument: { receiver: actor.party, amount: '1,0' } }))
  expected('INVALID_ARGUMENT', exercise({ argument: { receiver: actor.party } }))
  expected('INVALID_ARGUMENT', tap, {
    disclosed: [{ contractId: rules, blob: Buffer.from('other').toString('base64') }],
  })
  expected('CONTRACT_NOT_FOUND', tap, { disclosed: [] })
  expected('CONTRACT_NOT_FOUND', exercise({ contractId: NOTHING }))
  expected('PERMISSION_DENIED', exercise({ choice: 'Archive', argument: {} }))
  expected('WRONGLY_TYPED_CONTRACT', exercise({ contractId: scenario.the(ansRules) }))
  // By package id.
  const { templateId } = scenario.ledger.contract(rules) ?? { templateId: '' }
  expected('accepted', exercise({ template: templateId }))
  const payload = {
    dso: scenario.network.genesis.dso,
    owner: actor.party,
    amount: {
      initialAmount: '1.0000000000',
      createdAt: { number: '0' },
      ratePerRound: { rate: '0.0000000000' },
    },
  }
  expected('PERMISSION_DENIED', { kind: 'create', template: templateRef(coin), argument: payload })
  expected('PERMISSION_DENIED', {
    kind: 'createAndExercise',
    template: templateRef(coin),
    createArgument: payload,
    choice: 'Archive',
    argument: {},
  })
  const send = (inputs: readonly ContractId[], amount: string) =>
    transferCommand({
      coinRules: rules,
      sender: actor.party,
      inputs,
      outputs: [{ receiver: actor.party, amount: amountOf(amount) }],
    })
  const [own, foreign] = [scenario.tap(actor, '3'), scenario.tap(other, '3')]
  expected('INSUFFICIENT_FUNDS', send([own], '4'))
  expected('CONTRACT_CONSUMED', [send([own], '1'), send([own], '1')])
  expected('PERMISSION_DENIED', send([foreign], '1'), { readAs: [other.party] })
  expected('accepted', [tap, send([own], '1')])
  expected(
    'LIMIT_EXCEEDED',
    Array.from({ length: 101 }, () => tap),
  )

  const change = { commandId: 'the same', submissionId: 'first' }
  const day = { kind: 'duration', micros: 86_400 * SECOND } as const
  expected('accepted', tap, change)
  expected('DUPLICATE_COMMAND', tap, { ...change, submissionId: 'second', deduplication: day })
  expected('DUPLICATE_COMMAND', tap, { ...change, deduplication: { kind: 'offset', offset: 0 } })
  expected('accepted', tap, { ...change, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` })
  expected('INVALID_DEDUPLICATION_PERIOD', tap, {
    deduplication: { kind: 'duration', micros: 90_000 * SECOND },
  })
  expected('CHOICE_REFUSED', allocatePartyCommand({ hint: 'dora' }), { actAs: [] })
  expected('PERMISSION_DENIED', tap, { readAs: [unknownOf(actor)] })

  for (let open = ownRequests(scenario, actor); open < 16; open++)
    expected('accepted', request({ name: `open-${open}.unverified.ns` }))
  expected('OPEN_REQUEST_LIMIT', request({}))
  // Payments in flight: the requests of another party.
  const payer = scenario.actor('payer')
  scenario.tap(payer, '9000')
  for (let paid = 0; paid < 16; paid++) scenario.pay(payer, `paid-${paid}.unverified.ns`)
  const { request: last } = scenario.request(payer, 'paid-16.unverified.ns')
  const accept = acceptRequestCommand({ request: last, inputs: scenario.coins(payer) })
  expectOutcome('LIMIT_EXCEEDED', scenario.submit(payer, accept))
}

function ownRequests({ ledger }: Scenario, actor: Actor): number {
  return ledger
    .all(subscriptionRequest)
    .filter(({ payload }) => payload.subscriptionData.sender === actor.party).length
}

/** A party of the same participant that was never allocated. */
function unknownOf({ party }: Actor): string {
  return `unknown${party.slice(party.indexOf('::'))}`
}

/** Entries that are ignored, for each reason. */
function ignoredOf(scenario: Scenario, actor: Actor): void {
  const { ledger, network } = scenario
  const now = () => ledger.head().recordTime
  const tap = tapCommand({
    coinRules: scenario.the(coinRules),
    receiver: actor.party,
    amount: amountOf('1'),
  })
  const sign = createEntrySigner(() => ({
    genesis: network.genesisHash,
    notAfter: now() + 60 * SECOND,
    actAs: [actor.party],
    commands: [tap],
  }))
  const own = actor.keyPair
  const other = testKeyPair('another participant')
  const damaged = sign({}, own).slice()
  damaged[40] = (damaged[40] ?? 0) ^ 1
  const entries: readonly (readonly [string, Uint8Array])[] = [
    ['malformed', utf8('\u0001 no entry')],
    ['malformed', utf8('{"version":4}')],
    ['too large', new Uint8Array(256 * 1024 + 1)],
    ['bad signature', damaged],
    ['other network', sign({ genesis: '00'.repeat(32) }, own)],
    ['not after', sign({ notAfter: now() - 1 }, own)],
    ['not after', sign({ notAfter: now() + 100 * 86_400 * SECOND }, own)],
    ['not bound', sign({}, other)],
    [
      'seen before',
      ledger.entries().findLast(({ bytes }) => bytes.length > 97)?.bytes as Uint8Array,
    ],
  ]
  for (const [reason, bytes] of entries)
    expectOutcome(`ignored: ${reason}`, ledger.append(bytes).result)
}

/** The result of a command of two parties of one participant. */
function resultIn(scenario: Scenario, actor: Actor, others: readonly Actor[], command: Command) {
  const actAs = [actor, ...others].map(({ party }) => party)
  const result = scenario.submit(actor, command, { actAs })
  expectOutcome('accepted', result)
  const root = result.kind === 'accepted' ? result.update.events[0] : undefined
  if (root?.kind !== 'exercised') throw new Error('the root is an exercise')
  return root.result as Readonly<Record<string, unknown>>
}

function expectOutcome(expected: string, result: EntryResult): void {
  const outcome = outcomeOf(result)
  if (outcome === expected) return
  const message = result.kind === 'rejected' ? `: ${result.message}` : ''
  throw new Error(`expected ${expected}, not ${outcome}${message}`)
}
