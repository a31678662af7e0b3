/** @module-tag thorough */
import type { Amount, Command, ContractId, Micros } from '@quorumscan/model'
import { cases, isLong } from '@quorumscan/testkit'
import { NAME_SUFFIX, quorumOf } from '@quorumscan/verifier'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  acceptRequestCommand,
  acceptTransferCommand,
  advanceRoundsCommand,
  cancelSubscriptionCommand,
  collectRenewalCommand,
  confirmResolveCommand,
  createTransferInstructionCommand,
  expireEntryCommand,
  expirePaymentCommand,
  expireRequestCommand,
  expireSubscriptionCommand,
  expireTransferCommand,
  makePaymentCommand,
  rejectRequestCommand,
  rejectTransferCommand,
  requestEntryCommand,
  tapCommand,
  terminateSubscriptionCommand,
  transferCommand,
  withdrawTransferCommand,
} from './commands.ts'
import { payloadOf } from './registry.ts'
import { ansEntry } from './templates/ans-entry.ts'
import { ansEntryContext } from './templates/ans-entry-context.ts'
import { ansRules } from './templates/ans-rules.ts'
import { coin } from './templates/coin.ts'
import { coinRules } from './templates/coin-rules.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { lockedCoin } from './templates/locked-coin.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { subscriptionInitialPayment } from './templates/subscription-initial-payment.ts'
import { subscriptionPayment } from './templates/subscription-payment.ts'
import { subscriptionRequest } from './templates/subscription-request.ts'
import { terminatedSubscription } from './templates/terminated-subscription.ts'
import {
  type Actor,
  amountOf,
  type Offer,
  PlainModel,
  type Registration,
  Scenario,
} from './testing/index.ts'

/** When the comparison stops, on a slow machine. */
const LIMIT_MS = isLong ? 240_000 : 20_000
const SECOND = 1_000_000
const NOTHING = `00${'ee'.repeat(32)}`
const USERS = ['ann', 'ben', 'cat']
const NAMES = ['red', 'blue'].map((label) => label + NAME_SUFFIX)

/** Numbers from which a step chooses actors, contracts and times. */
type Step = {
  readonly kind: string
  readonly who: number
  readonly which: number
  readonly wait: number
}

/** Kinds of steps with their weights, and the stage of registration that they usually need. */
const STEPS: Readonly<Record<string, { weight: number; stage?: Registration['stage'] }>> = {
  tap: { weight: 4 },
  merge: { weight: 1 },
  publish: { weight: 2 },
  transfer: { weight: 2 },
  request: { weight: 5 },
  accept: { weight: 10, stage: 'requested' },
  reject: { weight: 1, stage: 'requested' },
  confirm: { weight: 4, stage: 'paid' },
  resolve: { weight: 10, stage: 'paid' },
  refund: { weight: 3, stage: 'paid' },
  refundRenewal: { weight: 6, stage: 'renewing' },
  renew: { weight: 16, stage: 'idle' },
  collect: { weight: 14, stage: 'renewing' },
  cancel: { weight: 2, stage: 'idle' },
  expireSubscription: { weight: 4, stage: 'idle' },
  expireRequest: { weight: 1, stage: 'requested' },
  terminate: { weight: 3, stage: 'terminated' },
  expireEntry: { weight: 4 },
  rounds: { weight: 2 },
  offer: { weight: 3 },
  acceptOffer: { weight: 2 },
  rejectOffer: { weight: 1 },
  withdrawOffer: { weight: 1 },
  expireOffer: { weight: 1 },
}

const steps = fc.array(
  fc.record({
    kind: fc.oneof(
      ...Object.entries(STEPS).map(([kind, { weight }]) => ({
        weight,
        arbitrary: fc.constant(kind),
      })),
    ),
    who: fc.noBias(fc.nat(11)),
    which: fc.noBias(fc.nat(5)),
    wait: fc.oneof(
      { weight: 20, arbitrary: fc.nat(SECOND) },
      { weight: 2, arbitrary: fc.nat(35 * SECOND) },
      // Boundaries: the ends of a tick, a window and a lifetime.
      { weight: 2, arbitrary: fc.constantFrom(10, 30, 40, 60, 100).map((s) => s * SECOND - 1) },
    ),
  }),
  { minLength: 40, maxLength: 60, size: 'max' },
)

/** The ledger and the model side by side. */
class Pair {
  readonly story = new Scenario({
    names: {
      entryFeeUsd: '1.0000000000',
      entryLifetimeMicros: 100 * SECOND,
      renewalDurationMicros: 40 * SECOND,
      requestLifetimeMicros: 60 * SECOND,
    },
    coin: { tickMicros: 10 * SECOND, priceUsd: '0.3000000000', rewardPerRound: '1.0000000000' },
  })
  /** All at one participant, so that coin can be handed over in one transaction of both. */
  readonly users: readonly Actor[] = USERS.map((hint) => this.story.actor(hint, 'home'))
  readonly model: PlainModel
  readonly #ids = new Map<Registration | Offer, Record<string, ContractId>>()

  constructor() {
    const { genesis } = this.story.network
    this.model = new PlainModel({
      users: this.users.map(({ party }) => party),
      svs: this.story.svs.map(({ party }) => party),
      quorum: quorumOf(genesis.nodes.length),
      start: genesis.recordTime,
      feeUsd: amountOf('1'),
      priceUsd: amountOf('0.3'),
      reward: amountOf('1'),
      tick: 10 * SECOND,
      lifetime: 100 * SECOND,
      window: 40 * SECOND,
      requestLifetime: 60 * SECOND,
    })
    for (const { party } of this.users) {
      const tap = { coinRules: this.story.the(coinRules), receiver: party, amount: amountOf('20') }
      const user = this.users.find((other) => other.party === party) as Actor
      this.#expect(user, tapCommand(tap), this.model.tap(party, amountOf('20')))
    }
  }

  run(step: Step): void {
    const wait = this.#waitOf(step)
    if (wait > 0) this.story.ledger.advance(wait)
    this.model.now = this.story.ledger.head().recordTime + 1
    this.#step(step)
  }

  /** Often the step comes at the moment from which on it is possible, or 1 µs before that. */
  #waitOf({ kind, who, which, wait }: Step): Micros {
    const { entries, roundsClose } = this.model
    const registration = this.#registrationFor(kind, who, which)
    const possibleAt: Readonly<Record<string, Micros | undefined>> = {
      refund: registration?.lockEnds,
      refundRenewal: registration?.lockEnds,
      renew: registration && registration.due - 40 * SECOND,
      expireSubscription: registration && registration.due + 1,
      expireRequest: registration?.requestEnds,
      expireEntry: entries[which]?.expiresAt,
      rounds: roundsClose[0],
      publish: this.#nextAddressAt(who),
    }
    const at = possibleAt[kind]
    if (at === undefined || who % 3 === 0) return wait
    // The step itself takes place 1 µs after the wait.
    return at - (which === 5 ? 2 : 1) - this.story.ledger.head().recordTime
  }

  #nextAddressAt(who: number): Micros | undefined {
    const sv = this.story.svs[who % this.story.svs.length] as Actor
    const last = this.model.addresses.get(sv.party)
    return last && last.at + 10 * SECOND
  }

  #step({ kind, who, which }: Step): unknown {
    const { story, model } = this
    const user = this.users[who % this.users.length] as Actor
    const sv = story.svs[who % story.svs.length] as Actor
    const bySv = { dsoRules: story.the(dsoRules), sv: sv.party }
    const amount: Amount = amountOf(String(which)) + BigInt(who)
    const registration = this.#registrationFor(kind, who, which)
    const offer = model.offers.at(-1 - (which % 3))
    const owner = this.users.find(({ party }) => party === registration?.user) ?? user
    const from = this.users.find(({ party }) => party === offer?.from) ?? user
    const to = this.users.find(({ party }) => party === offer?.to) ?? user
    const id = (of: Registration | Offer | undefined, member: string) =>
      (of && this.#ids.get(of)?.[member]) ?? NOTHING
    const on = (step: (registration: Registration) => boolean) =>
      registration === undefined ? false : step.call(model, registration)
    const onOffer = (step: (offer: Offer) => boolean) =>
      offer === undefined ? false : step.call(model, offer)

    switch (kind) {
      case 'tap': {
        // Sometimes the largest permitted tap, or the next higher amount.
        const tapped = which === 5 ? amountOf('1000000000000') + BigInt(who % 2) : amount
        return this.#expect(
          user,
          tapCommand({ coinRules: story.the(coinRules), receiver: user.party, amount: tapped }),
          model.tap(user.party, tapped),
        )
      }
      case 'publish': {
        const index = who % story.svs.length
        const sequence = (model.addresses.get(sv.party)?.sequence ?? 0) + (which % 3)
        if (sequence === 0) return undefined
        const isTaken = model.publish(sv.party, sequence)
        expect(story.publish(index, { sequence }).kind === 'accepted').toBe(isTaken)
        return undefined
      }
      case 'merge': {
        const inputs = story.coins(user)
        const merge = { coinRules: story.the(coinRules), sender: user.party, inputs, outputs: [] }
        return this.#expect(user, transferCommand(merge), inputs.length > 0)
      }
      case 'transfer': {
        const receiver = this.users[which % this.users.length] as Actor
        const command = transferCommand({
          coinRules: story.the(coinRules),
          sender: user.party,
          inputs: story.coins(user),
          outputs: [{ receiver: receiver.party, amount }],
        })
        const isTaken = model.transfer(user.party, receiver.party, amount)
        return this.#expect(user, command, isTaken, [receiver])
      }
      case 'request': {
        const name = NAMES[which % NAMES.length] as string
        const made = model.request(user.party, name)
        const result = this.#expect(
          user,
          requestEntryCommand({
            ansRules: story.the(ansRules),
            user: user.party,
            name,
            url: '',
            description: '',
          }),
          made !== false,
        )
        if (made !== false) this.#ids.set(made, { request: result['requestCid'] as ContractId })
        return undefined
      }
      case 'accept': {
        const inputs = story.coins(owner)
        const command = acceptRequestCommand({ request: id(registration, 'request'), inputs })
        return this.#note(registration, this.#expect(owner, command, on(model.accept)))
      }
      case 'reject': {
        const command = rejectRequestCommand({ request: id(registration, 'request') })
        return this.#note(registration, this.#expect(owner, command, on(model.reject)))
      }
      case 'resolve':
        for (let index = 0; index < model.rules.quorum; index++)
          this.run({ kind: 'confirm', who: who + index, which, wait: 0 })
        return undefined
      case 'confirm': {
        const payment = id(registration, 'paymentCid')
        const command = confirmResolveCommand({
          dsoRules: bySv.dsoRules,
          confirmer: sv.party,
          payment,
        })
        return this.#expect(
          sv,
          command,
          on((confirmed) => model.confirm(confirmed, sv.party)),
        )
      }
      case 'refund':
      case 'refundRenewal': {
        const payment = id(registration, 'paymentCid')
        return this.#expect(sv, expirePaymentCommand({ ...bySv, payment }), on(model.refund))
      }
      case 'renew': {
        const command = makePaymentCommand({
          idle: this.#idleOf(registration),
          inputs: story.coins(owner),
        })
        return this.#note(registration, this.#expect(owner, command, on(model.payRenewal)))
      }
      case 'collect': {
        const payment = id(registration, 'paymentCid')
        const command = collectRenewalCommand({ ...bySv, payment })
        return this.#expect(sv, command, on(model.collectRenewal))
      }
      case 'cancel': {
        const command = cancelSubscriptionCommand({ idle: this.#idleOf(registration) })
        return this.#expect(owner, command, on(model.cancel))
      }
      case 'expireSubscription': {
        const command = expireSubscriptionCommand({ ...bySv, idle: this.#idleOf(registration) })
        return this.#expect(sv, command, on(model.expireSubscription))
      }
      case 'expireRequest': {
        const request = id(registration, 'request')
        const command = expireRequestCommand({ ...bySv, request })
        return this.#expect(sv, command, on(model.expireRequest))
      }
      case 'terminate': {
        const [marker] = this.#under(registration, terminatedSubscription.entity)
        const command = terminateSubscriptionCommand({ ...bySv, terminated: marker ?? NOTHING })
        return this.#expect(sv, command, on(model.terminate))
      }
      case 'expireEntry': {
        const entry = model.entries[which]
        const contract = story.ledger
          .all(ansEntry)
          .find(
            ({ payload }) => payload.name === entry?.name && payload.expiresAt === entry.expiresAt,
          )
        const command = expireEntryCommand({ ...bySv, entry: contract?.contractId ?? NOTHING })
        return this.#expect(sv, command, entry !== undefined && model.expireEntry(entry))
      }
      case 'rounds':
        return this.#expect(sv, advanceRoundsCommand(bySv), model.advanceRounds())
      case 'offer': {
        const receiver = this.users[which % this.users.length] as Actor
        const ends = model.now + which * 5 * SECOND
        const made = model.offer(user.party, { to: receiver.party, amount, ends })
        const result = this.#expect(
          user,
          createTransferInstructionCommand({
            coinRules: story.the(coinRules),
            sender: user.party,
            receiver: receiver.party,
            amount,
            inputs: story.coins(user),
            executeBefore: ends,
            description: '',
            trackingId: '',
          }),
          made !== false,
        )
        if (made !== false)
          this.#ids.set(made, { offer: result['transferInstructionCid'] as ContractId })
        return undefined
      }
      case 'acceptOffer': {
        const command = acceptTransferCommand({ instruction: id(offer, 'offer') })
        return this.#expect(to, command, onOffer(model.acceptOffer))
      }
      case 'rejectOffer': {
        const command = rejectTransferCommand({ instruction: id(offer, 'offer') })
        return this.#expect(to, command, onOffer(model.returnOffer))
      }
      case 'withdrawOffer': {
        const command = withdrawTransferCommand({ instruction: id(offer, 'offer') })
        return this.#expect(from, command, onOffer(model.returnOffer))
      }
      case 'expireOffer': {
        const command = expireTransferCommand({
          instruction: id(offer, 'offer'),
          actor: from.party,
        })
        return this.#expect(from, command, onOffer(model.expireOffer))
      }
      default:
        throw new Error(`no step ${kind}`)
    }
  }

  /** Mostly a registration at the stage that the step needs, else any. */
  #registrationFor(kind: string, who: number, which: number): Registration | undefined {
    const { registrations } = this.model
    const stage = kind === 'confirm' ? 'paid' : STEPS[kind]?.stage
    const fitting = registrations.filter((registration) => registration.stage === stage)
    return who === 0 || fitting.length === 0
      ? registrations.at(-1 - which)
      : fitting.at(-1 - (which % fitting.length))
  }

  /** Submits; the ledger must accept the step exactly if the model does. */
  #expect(
    actor: Actor,
    command: Command,
    isTaken: boolean,
    others: readonly Actor[] = [],
  ): Record<string, unknown> {
    const actAs = [...new Set([actor, ...others].map(({ party }) => party))]
    const result = this.story.submit(actor, command, { actAs })
    const what = `${command.kind === 'exercise' ? command.choice : command.kind}: ${JSON.stringify(result).slice(0, 300)}`
    expect(result.kind === 'accepted', what).toBe(isTaken)
    if (result.kind !== 'accepted') return {}
    const [root] = result.update.events
    return root?.kind === 'exercised' ? (root.result as Record<string, unknown>) : {}
  }

  #note(registration: Registration | undefined, result: Record<string, unknown>): void {
    if (registration === undefined) return
    this.#ids.set(registration, {
      ...this.#ids.get(registration),
      ...(result as Record<string, ContractId>),
    })
  }

  /** Contracts that name the registration's request as their reference. */
  #under(registration: Registration | undefined, entity: string): readonly ContractId[] {
    const request = registration && this.#ids.get(registration)?.['request']
    return this.story.ledger
      .contracts()
      .filter(
        ({ templateId, payload }) =>
          templateId.endsWith(`:${entity}`) && payload['reference'] === request,
      )
      .map(({ contractId }) => contractId)
  }

  #idleOf(registration: Registration | undefined): ContractId {
    return this.#under(registration, subscriptionIdleState.entity)[0] ?? NOTHING
  }

  check(): void {
    const { story, model } = this
    const contracts = story.ledger.contracts()
    const counts = new Map<string, number>()
    const unlocked = new Map<string, Amount>()
    const locked = new Map<string, Amount>()
    const entries: string[] = []
    const add = (balances: Map<string, Amount>, owner: string, amount: Amount) =>
      balances.set(owner, (balances.get(owner) ?? 0n) + amount)
    for (const contract of contracts) {
      const entity = contract.templateId.split(':')[2] as string
      counts.set(entity, (counts.get(entity) ?? 0) + 1)
      if (entity === 'Coin') {
        const payload = payloadOf(coin, contract)
        add(unlocked, payload.owner, payload.amount.initialAmount)
      } else if (entity === 'LockedCoin') {
        const payload = payloadOf(lockedCoin, contract)
        add(locked, payload.coin.owner, payload.coin.amount.initialAmount)
      } else if (entity === 'AnsEntry') {
        const { user, name, expiresAt } = payloadOf(ansEntry, contract)
        entries.push(`${name} ${user} ${expiresAt}`)
      }
    }
    const nonZero = (balances: ReadonlyMap<string, Amount>) =>
      [...balances].filter(([, amount]) => amount !== 0n).sort()
    expect(nonZero(unlocked)).toEqual(nonZero(model.unlocked))
    expect(nonZero(locked)).toEqual(nonZero(model.locked))
    expect(entries.sort()).toEqual(
      model.entries.map(({ name, user, expiresAt }) => `${name} ${user} ${expiresAt}`).sort(),
    )
    // Conservation, from the contracts alone: what came into being minus what was burned.
    const total = [...unlocked.values(), ...locked.values()].reduce((a, b) => a + b, 0n)
    expect(total).toBe(model.created - model.burned)
    const now = story.ledger.head().recordTime
    const live = model.entries.filter(({ expiresAt }) => expiresAt > now).map(({ name }) => name)
    expect(new Set(live).size).toBe(live.length)
    const inStage = (...stages: Registration['stage'][]) =>
      model.registrations.filter(({ stage }) => stages.includes(stage)).length
    for (const [{ entity }, count] of [
      [subscriptionRequest, inStage('requested')],
      [subscriptionInitialPayment, inStage('paid')],
      [subscriptionIdleState, inStage('idle')],
      [subscriptionPayment, inStage('renewing')],
      [terminatedSubscription, inStage('terminated')],
      [ansEntryContext, inStage('requested', 'paid', 'idle', 'renewing', 'terminated')],
    ] as const)
      expect(counts.get(entity) ?? 0, entity).toBe(count)
    const votes = model.registrations
      .filter(({ stage }) => stage === 'paid')
      .reduce((sum, registration) => sum + registration.votes.size, 0)
    expect(counts.get('Confirmation') ?? 0).toBe(votes)
    expect(counts.get('ScanAddress') ?? 0).toBe(model.addresses.size)
  }
}

/** Runs sequences on ledger and model; how often a step of each kind took place. */
function compare(parameters: fc.Parameters<[Step[]]>): ReadonlyMap<string, number> {
  const taken = new Map<string, number>()
  fc.assert(
    fc.property(steps, (sequence) => {
      const pair = new Pair()
      for (const step of sequence) {
        pair.run(step)
        if (pair.story.ledger.results().at(-1)?.kind === 'accepted')
          taken.set(step.kind, (taken.get(step.kind) ?? 0) + 1)
        pair.check()
      }
    }),
    parameters,
  )
  return taken
}

it('any commands change balances, names and subscriptions as in the model', {
  tags: ['model'],
}, () => {
  compare({ numRuns: cases(8, 200), interruptAfterTimeLimit: LIMIT_MS })
})

it('generated sequences contain accepted steps of every kind', {
  tags: ['many-cases'],
}, () => {
  const taken = compare({ numRuns: 25, seed: 12 })
  for (const kind of Object.keys(STEPS)) expect(taken.get(kind) ?? 0, kind).toBeGreaterThan(0)
})
