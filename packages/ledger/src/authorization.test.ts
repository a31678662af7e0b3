import type { Command, Contract, ContractId, DamlValue } from '@quorumscan/model'
import { DAY_MICROS, testKeyPair } from '@quorumscan/testkit'
import { NAME_SUFFIX } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { expireEntry, renewEntry } from './choices/ans-entry.ts'
import { contextCollectInitial, terminateContext } from './choices/ans-entry-context.ts'
import { collectInitialEntryPayment, setAnsConfig } from './choices/ans-rules.ts'
import { mint, transfer } from './choices/coin-rules.ts'
import { unlock } from './choices/locked-coin.ts'
import { expireSubscription } from './choices/subscription-idle-state.ts'
import { createTransferInstruction } from './choices/transfer-instruction.ts'
import {
  acceptRequestCommand,
  advanceRoundsCommand,
  cancelSubscriptionCommand,
  confirmResolveCommand,
  createTransferInstructionCommand,
  exerciseCommand,
  expireEntryCommand,
  expireTransferCommand,
  makePaymentCommand,
  refundPaymentCommand,
  rejectRequestCommand,
  requestEntryCommand,
  setScanUrlCommand,
  tapCommand,
  transferCommand,
} from './commands.ts'
import { contractBlob, disclose } from './contract-id.ts'
import { encodePayload, templateRef } from './template.ts'
import { ansEntry } from './templates/ans-entry.ts'
import { ansRules } from './templates/ans-rules.ts'
import { coin } from './templates/coin.ts'
import { coinRules } from './templates/coin-rules.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { lockedCoin } from './templates/locked-coin.ts'
import { openMiningRound } from './templates/open-mining-round.ts'
import { subscription } from './templates/subscription.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { subscriptionInitialPayment } from './templates/subscription-initial-payment.ts'
import { subscriptionPayment } from './templates/subscription-payment.ts'
import { subscriptionRequest } from './templates/subscription-request.ts'
import { terminatedSubscription } from './templates/terminated-subscription.ts'
import { transferInstruction } from './templates/transfer-instruction.ts'
import { type Actor, amountOf, outcomeOf, Scenario } from './testing/index.ts'

const NAME = `alice${NAME_SUFFIX}`

function begin() {
  const story = new Scenario()
  return { story, alice: story.actor('alice'), mallory: story.actor('mallory') }
}

/** The state must not have moved: nothing was created or archived. */
function expectRefused(story: Scenario, submit: () => string, outcome: string): void {
  const before = story.ledger.contracts().map(({ contractId }) => contractId)
  expect(submit()).toBe(outcome)
  expect(story.ledger.contracts().map(({ contractId }) => contractId)).toEqual(before)
}

const coinOf = (owner: string, dso: string) =>
  encodePayload(coin, {
    dso,
    owner,
    amount: {
      initialAmount: amountOf('1000'),
      createdAt: { number: 2 },
      ratePerRound: { rate: 0n },
    },
  })

it('no party creates coin for itself under the real operator', () => {
  const { story, mallory } = begin()
  const argument = coinOf(mallory.party, story.network.genesis.dso)
  const create: Command = { kind: 'create', template: templateRef(coin), argument }
  expectRefused(story, () => outcomeOf(story.submit(mallory, create)), 'PERMISSION_DENIED')
})

it('no party creates contracts of a subscription with itself as the receiver', () => {
  const { story, mallory } = begin()
  const { party } = mallory
  // Any contract id serves as a reference.
  const id = story.the(ansRules)
  const data = { sender: party, receiver: party, provider: party, description: '' }
  const payload = {
    reference: id,
    subscription: id,
    lockedCoin: id,
    subscriptionData: { ...data, dso: story.network.genesis.dso },
    payData: {
      paymentAmount: { amount: amountOf('1'), unit: 'USDUnit' as const },
      paymentInterval: 1,
      paymentDuration: 1,
    },
    nextPaymentDueAt: 0,
    thisPaymentDueAt: 0,
    lockExpiresAt: 0,
    round: { number: 2 },
  }
  const attempts: readonly [string, DamlValue][] = [
    [templateRef(subscription), encodePayload(subscription, payload)],
    [templateRef(subscriptionInitialPayment), encodePayload(subscriptionInitialPayment, payload)],
    [templateRef(subscriptionIdleState), encodePayload(subscriptionIdleState, payload)],
    [templateRef(subscriptionPayment), encodePayload(subscriptionPayment, payload)],
    [templateRef(terminatedSubscription), encodePayload(terminatedSubscription, payload)],
  ]
  for (const [template, argument] of attempts) {
    const create: Command = { kind: 'create', template, argument }
    expectRefused(
      story,
      () => outcomeOf(story.submit(mallory, create)),
      'TEMPLATE_PRECONDITION_VIOLATED',
    )
  }
  expect(story.ledger.due()).toEqual([])
})

it('no party creates contracts that name itself as the operator', () => {
  const { story, mallory } = begin()
  const { party } = mallory
  const attempts: readonly [string, DamlValue][] = [
    [templateRef(coin), coinOf(party, party)],
    [
      templateRef(dsoRules),
      encodePayload(dsoRules, {
        dso: party,
        protocolVersion: 3,
        nextVersion: null,
        svs: [{ name: 'sv-1', party }],
      }),
    ],
    [
      templateRef(ansEntry),
      encodePayload(ansEntry, {
        user: party,
        dso: party,
        name: NAME,
        url: '',
        description: '',
        expiresAt: 9e15,
      }),
    ],
  ]
  for (const [template, argument] of attempts)
    expectRefused(
      story,
      () => outcomeOf(story.submit(mallory, { kind: 'create', template, argument })),
      'TEMPLATE_PRECONDITION_VIOLATED',
    )
})

it('createAndExercise of a forged DsoRules does not lend its authority', () => {
  const { story, mallory } = begin()
  const { party } = mallory
  const command: Command = {
    kind: 'createAndExercise',
    template: templateRef(dsoRules),
    createArgument: encodePayload(dsoRules, {
      dso: story.network.genesis.dso,
      protocolVersion: 3,
      nextVersion: null,
      svs: [{ name: 'sv-1', party }],
    }),
    choice: 'DsoRules_AdvanceOpenMiningRounds',
    argument: { sv: party },
  }
  expectRefused(story, () => outcomeOf(story.submit(mallory, command)), 'PERMISSION_DENIED')
})

it('actAs and readAs with the operator are ignored, also next to a party of the caller', () => {
  const { story, mallory } = begin()
  const { dso } = story.network.genesis
  const tap = tapCommand({
    coinRules: story.the(coinRules),
    receiver: mallory.party,
    amount: amountOf('1'),
  })
  for (const more of [{ actAs: [dso] }, { actAs: [mallory.party, dso] }, { readAs: [dso] }])
    expectRefused(story, () => outcomeOf(story.submit(mallory, tap, more)), 'ignored: not bound')
})

it('a participant cannot speak for a party of another, as actAs or readAs', () => {
  const { story, alice, mallory } = begin()
  story.tap(alice, '10')
  const steal = transferCommand({
    coinRules: story.the(coinRules),
    sender: alice.party,
    inputs: story.coins(alice),
    outputs: [{ receiver: mallory.party, amount: amountOf('10') }],
  })
  for (const more of [
    { actAs: [alice.party] },
    { actAs: [alice.party, mallory.party] },
    { actAs: [mallory.party], readAs: [alice.party] },
  ])
    expectRefused(story, () => outcomeOf(story.submit(mallory, steal, more)), 'ignored: not bound')
})

it('a party that was not allocated cannot act', () => {
  const { story } = begin()
  const keyPair = testKeyPair('ghost')
  const ghost: Actor = {
    keyPair,
    party: `ghost::${begin().story.actor('ghost').party.split('::')[1]}`,
  }
  const tap = tapCommand({
    coinRules: story.the(coinRules),
    receiver: ghost.party,
    amount: amountOf('1'),
  })
  expectRefused(story, () => outcomeOf(story.submit(ghost, tap)), 'PERMISSION_DENIED')
})

function disclosedOf(story: Scenario, id: string) {
  return disclose(story.ledger.contract(id) as Contract)
}

it('rules and rounds of the operator are seen by super-validators, and by others when disclosed', () => {
  const { story, alice } = begin()
  const [sv] = story.svs as [Actor]
  const rules = { coinRules: story.the(coinRules), ansRules: story.the(ansRules) }
  const amount = amountOf('1')
  const attempts = (user: string) =>
    [
      [rules.coinRules, tapCommand({ ...rules, receiver: user, amount })],
      [
        rules.ansRules,
        requestEntryCommand({ ...rules, user, name: NAME, url: '', description: '' }),
      ],
    ] as const
  for (const [id, command] of attempts(alice.party)) {
    const outcome = (more: object) => outcomeOf(story.submit(alice, command, more))
    expectRefused(story, () => outcome({ disclosed: [] }), 'CONTRACT_NOT_FOUND')
    const other = disclosedOf(story, story.the(dsoRules))
    expectRefused(story, () => outcome({ disclosed: [other] }), 'CONTRACT_NOT_FOUND')
    expect(outcome({ disclosed: [disclosedOf(story, id)] })).toBe('accepted')
  }
  for (const [, command] of attempts(sv.party))
    expect(outcomeOf(story.submit(sv, command, { disclosed: [] }))).toBe('accepted')
  const round = story.ledger.all(openMiningRound)[0]?.contractId as string
  const archive = { ...tapCommand({ ...rules, receiver: alice.party, amount }), choice: 'Archive' }
  const onRound = { ...archive, contractId: round, template: templateRef(openMiningRound) } as never
  const outcome = (disclosed: readonly string[]) =>
    outcomeOf(
      story.submit(alice, onRound, { disclosed: disclosed.map((id) => disclosedOf(story, id)) }),
    )
  expectRefused(story, () => outcome([]), 'CONTRACT_NOT_FOUND')
  expectRefused(story, () => outcome([round]), 'PERMISSION_DENIED')
})

it('a coin of another is not visible, and with its blob still not spendable', () => {
  const { story, alice, mallory } = begin()
  const stolen = story.tap(alice, '10')
  const steal = transferCommand({
    coinRules: story.the(coinRules),
    sender: mallory.party,
    inputs: [stolen],
    outputs: [{ receiver: mallory.party, amount: amountOf('10') }],
  })
  expectRefused(story, () => outcomeOf(story.submit(mallory, steal)), 'CONTRACT_NOT_FOUND')
  const disclosed = [stolen, story.the(coinRules)].map((id) => disclosedOf(story, id))
  expectRefused(
    story,
    () => outcomeOf(story.submit(mallory, steal, { disclosed })),
    'PERMISSION_DENIED',
  )
})

it('a forged blob, and a genuine one of another contract, are refused', () => {
  const { story, alice, mallory } = begin()
  const stolen = story.tap(alice, '10')
  const own = story.tap(mallory, '10')
  const contract = story.ledger.contract(stolen) as never
  const forged = {
    ...(contract as object),
    payload: coinOf(mallory.party, story.network.genesis.dso),
  }
  const ownBlob = contractBlob(story.ledger.contract(own) as never)
  const spend = transferCommand({
    coinRules: story.the(coinRules),
    sender: mallory.party,
    inputs: [stolen],
    outputs: [{ receiver: mallory.party, amount: amountOf('10') }],
  })
  for (const bytes of [contractBlob(forged as never), ownBlob]) {
    const forgedBlob = { contractId: stolen, blob: Buffer.from(bytes).toString('base64') }
    const disclosed = [forgedBlob, disclosedOf(story, story.the(coinRules))]
    expectRefused(
      story,
      () => outcomeOf(story.submit(mallory, spend, { disclosed })),
      'INVALID_ARGUMENT',
    )
  }
})

it('a disclosed contract that is archived is not found', () => {
  const { story, alice, mallory } = begin()
  const { request } = story.request(alice, NAME)
  const disclosed = [disclosedOf(story, request)]
  story.do(alice, rejectRequestCommand({ request }))
  const result = story.submit(mallory, rejectRequestCommand({ request }), {
    disclosed,
  })
  expect(outcomeOf(result)).toBe('CONTRACT_NOT_FOUND')
})

it('with readAs a party sees the contracts of another party of its participant', () => {
  const story = new Scenario()
  const alice = story.actor('alice', 'shared')
  const clerk = story.actor('clerk', 'shared')
  const { request } = story.request(alice, NAME)
  const reject = rejectRequestCommand({ request })
  expect(outcomeOf(story.submit(clerk, reject))).toBe('CONTRACT_NOT_FOUND')
  // Visible now, but rejecting still takes the sender's authority.
  expect(outcomeOf(story.submit(clerk, reject, { readAs: [alice.party] }))).toBe(
    'PERMISSION_DENIED',
  )
  expect(outcomeOf(story.submit(clerk, reject, { actAs: [clerk.party, alice.party] }))).toBe(
    'accepted',
  )
})

it('only super-validators exercise the choices of super-validators', () => {
  const { story, alice, mallory } = begin()
  story.tap(alice, '400')
  const { payment } = story.pay(alice, NAME)
  const entry = story.register(story.actor('bob'), `bob${NAME_SUFFIX}`)
  const rules = story.the(dsoRules)
  const realSv = story.svs[0]?.party as string
  const attempts: Command[] = [mallory.party, realSv].flatMap((sv) => [
    confirmResolveCommand({ dsoRules: rules, confirmer: sv, payment }),
    expireEntryCommand({ dsoRules: rules, sv, entry }),
    advanceRoundsCommand({ dsoRules: rules, sv }),
    setScanUrlCommand({
      dsoRules: rules,
      sv,
      url: 'http://x',
      sequence: 1,
      signature: '00'.repeat(64),
    }),
  ])
  for (const command of attempts) {
    const outcome = outcomeOf(story.submit(mallory, command))
    expect(['PERMISSION_DENIED', 'CONTRACT_NOT_FOUND'], command.kind).toContain(outcome)
  }
})

it('a super-validator cannot confirm in the name of another', () => {
  const { story, alice } = begin()
  story.tap(alice, '400')
  const { payment } = story.pay(alice, NAME)
  const [first, second] = story.svs as [Actor, Actor]
  const forged = confirmResolveCommand({
    dsoRules: story.the(dsoRules),
    confirmer: second.party,
    payment,
  })
  expect(outcomeOf(story.submit(first, forged))).toBe('PERMISSION_DENIED')
})

it('choices with the operator’s authority cannot be exercised directly, even by an SV', () => {
  const { story, alice } = begin()
  story.tap(alice, '400')
  const { context, payment } = story.pay(alice, NAME)
  const entry = story.register(alice, `other${NAME_SUFFIX}`)
  const locked = story.ledger.all(lockedCoin)[0]?.contractId as ContractId
  const { dso } = story.network.genesis
  const attempts: Command[] = [
    exerciseCommand(unlock, locked, {}),
    exerciseCommand(contextCollectInitial, context, { payment }),
    exerciseCommand(collectInitialEntryPayment, story.the(ansRules), {
      user: alice.party,
      context,
      payment,
    }),
    exerciseCommand(renewEntry, entry, { extension: 1 }),
    exerciseCommand(mint, story.the(coinRules), {
      receiver: alice.party,
      amount: amountOf('1'),
      round: { number: 0 },
    }),
    exerciseCommand(setAnsConfig, story.the(ansRules), {
      config: { renewalDuration: 1, entryLifetime: 1, entryFee: 1n, descriptionPrefix: '' },
    }),
    exerciseCommand(transfer, story.the(coinRules), {
      sender: alice.party,
      inputs: story.coins(alice),
      outputs: [
        {
          receiver: alice.party,
          amount: 1n,
          lock: { holders: [dso], expiresAt: 9e15, optContext: null },
        },
      ],
    }),
    {
      kind: 'exercise',
      template: templateRef(ansEntry),
      contractId: entry,
      choice: 'Archive',
      argument: {},
    },
  ]
  for (const actor of [alice, story.svs[0] as Actor])
    for (const command of attempts)
      expectRefused(story, () => outcomeOf(story.submit(actor, command)), 'PERMISSION_DENIED')
})

it('choices on contracts of another party are refused', () => {
  const { story, alice, mallory } = begin()
  story.tap(alice, '400')
  story.tap(mallory, '400')
  const inputs = story.coins(mallory)
  const { request } = story.request(alice, NAME)
  const entry = story.register(alice, `other${NAME_SUFFIX}`)
  const { payment } = story.pay(alice, `third${NAME_SUFFIX}`)
  const idle = story.ledger.all(subscriptionIdleState)[0]?.contractId as ContractId
  story.ledger.advance(1e12)
  const attempts = [
    acceptRequestCommand({ request, inputs }),
    rejectRequestCommand({ request }),
    cancelSubscriptionCommand({ idle }),
    refundPaymentCommand({ payment, paymentKind: 'initial', actor: mallory.party }),
    exerciseCommand(expireEntry, entry, { actor: mallory.party }),
    exerciseCommand(expireSubscription, idle, { actor: mallory.party }),
  ]
  const disclosed = [request, entry, payment, idle].map((id) => disclosedOf(story, id))
  for (const command of attempts) {
    expectRefused(story, () => outcomeOf(story.submit(mallory, command)), 'CONTRACT_NOT_FOUND')
    expectRefused(
      story,
      () => outcomeOf(story.submit(mallory, command, { disclosed })),
      'PERMISSION_DENIED',
    )
  }
})

it('only its parties end a renewal payment, an offer or the context of an ended subscription', () => {
  const { story, alice, mallory } = begin()
  story.register(alice, NAME)
  const { context, request } = story.request(alice, `other${NAME_SUFFIX}`)
  story.do(alice, rejectRequestCommand({ request }))
  const terminated = story.ledger.all(terminatedSubscription)[0]?.contractId as ContractId
  story.ledger.advance(60 * DAY_MICROS)
  story.tap(alice, '400')
  const idle = story.ledger.all(subscriptionIdleState)[0]?.contractId as ContractId
  story.do(alice, makePaymentCommand({ idle, inputs: story.coins(alice) }))
  const payment = story.ledger.all(subscriptionPayment)[0]?.contractId as ContractId
  const offered = {
    sender: alice.party,
    receiver: story.actor('bob').party,
    amount: amountOf('1'),
    inputs: story.coins(alice),
    executeBefore: 9e15,
    description: '',
    trackingId: '',
  }
  story.do(alice, createTransferInstructionCommand({ coinRules: story.the(coinRules), ...offered }))
  const instruction = story.ledger.all(transferInstruction)[0]?.contractId as ContractId
  const actor = mallory.party
  const attempts = [
    refundPaymentCommand({ payment, paymentKind: 'renewal', actor }),
    expireTransferCommand({ instruction, actor }),
    exerciseCommand(terminateContext, context, { actor, terminatedSubscription: terminated }),
  ]
  const disclosed = [payment, instruction, context, terminated].map((id) => disclosedOf(story, id))
  for (const command of attempts) {
    const submit = () => outcomeOf(story.submit(mallory, command, { disclosed }))
    expectRefused(story, submit, 'PERMISSION_DENIED')
  }
})

it('a contract is not exercised as another template, and unknown names are refused', () => {
  const { story, alice } = begin()
  const { request } = story.request(alice, NAME)
  expectRefused(
    story,
    () => outcomeOf(story.submit(alice, exerciseCommand(unlock, request, {}))),
    'WRONGLY_TYPED_CONTRACT',
  )
  const attempts: Command[] = [
    {
      kind: 'exercise',
      template: '#quorumscan-coin:Coin:Gold',
      contractId: request,
      choice: 'X',
      argument: {},
    },
    {
      kind: 'exercise',
      template: templateRef(subscriptionRequest),
      contractId: request,
      choice: 'SubscriptionRequest_Steal',
      argument: {},
    },
    requestEntryCommandWith(story, { user: 'no party' }),
    requestEntryCommandWith(story, { surplus: 'x' }),
  ]
  for (const command of attempts)
    expectRefused(story, () => outcomeOf(story.submit(alice, command)), 'INVALID_ARGUMENT')
})

function requestEntryCommandWith(story: Scenario, members: Record<string, string>): Command {
  const command = requestEntryCommand({
    ansRules: story.the(ansRules),
    user: story.svs[0]?.party as string,
    name: NAME,
    url: '',
    description: '',
  })
  if (command.kind !== 'exercise') throw new Error('an exercise')
  return { ...command, argument: { ...(command.argument as object), ...members } }
}

it('an offer to the operator or to an unknown party is refused', () => {
  const { story, alice } = begin()
  story.tap(alice, '10')
  for (const receiver of [story.network.genesis.dso, alice.party.replace('alice', 'unknown')]) {
    const offer = exerciseCommand(createTransferInstruction, story.the(coinRules), {
      sender: alice.party,
      receiver,
      amount: amountOf('1'),
      inputs: story.coins(alice),
      executeBefore: 9e15,
      description: '',
      trackingId: '',
    })
    expectRefused(story, () => outcomeOf(story.submit(alice, offer)), 'INVALID_ARGUMENT')
  }
})

it('a hint is allocated once, on the participant that signs', () => {
  const { story, alice } = begin()
  const again = story.ledger.submit({
    keyPair: alice.keyPair,
    commands: [{ kind: 'allocateParty', hint: 'alice' }],
  })
  expect(outcomeOf(again)).toBe('CHOICE_REFUSED')
  const bad = story.ledger.submit({
    keyPair: alice.keyPair,
    commands: [{ kind: 'allocateParty', hint: 'a b' }],
  })
  expect(outcomeOf(bad)).toBe('INVALID_ARGUMENT')
})
