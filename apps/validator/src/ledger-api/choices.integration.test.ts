/** Every choice of coins and names can be exercised through commands, by a party that may, and by no other. */

import { randomUUID } from 'node:crypto'
import { templateRef, templates } from '@quorumscan/ledger'
import { formatInstant } from '@quorumscan/verifier'
import { describe, expect } from 'vitest'
import { itInWorld } from '../testing/world-fixtures.ts'

const SECOND_MICROS = 1_000_000
const DAY_MICROS = 86_400 * SECOND_MICROS

const it = itInWorld
  /** Registered users; the automation is off. */
  .extend('parties', { scope: 'file' }, async ({ world }) => {
    const alice = (await world.registered('alice', '40')).party
    const bob = (await world.registered('bob', null)).party
    world.network.setWorking(false)
    return { alice, bob }
  })
  .extend('alice', { scope: 'file' }, ({ parties }) => parties.alice)
  .extend('bob', { scope: 'file' }, ({ parties }) => parties.bob)
  /** Acts as alice and as bob. */
  .extend('client', { scope: 'file' }, async ({ admin, world, alice, bob }) => {
    const rights = [alice, bob].map((party) => ({ kind: { CanActAs: { value: { party } } } }))
    await admin.post('/v2/users', { user: { id: 'both' }, rights })
    return await world.clientOf('both')
  })
  .extend(
    'submit',
    ({ client, contracts }) =>
      (actAs: readonly string[], command: object) =>
        client.post('/v2/commands/submit-and-wait-for-transaction', {
          commands: {
            commands: [command],
            commandId: randomUUID(),
            actAs,
            disclosedContracts: contracts.disclosedContracts,
          },
          transactionFormat: {
            transactionShape: 'TRANSACTION_SHAPE_LEDGER_EFFECTS',
            eventFormat: { filtersByParty: Object.fromEntries(actAs.map((party) => [party, {}])) },
          },
        }),
  )
  .extend(
    'commandOf',
    ({ contracts }) =>
      (entity: string, contractId: string, choice: string, choiceArgument: object) => ({
        ExerciseCommand: {
          templateId: refOf(entity),
          contractId: contracts.rules[contractId] ?? contractId,
          choice,
          choiceArgument,
        },
      }),
  )
  /** What the choice returned. */
  .extend(
    'does',
    ({ submit, commandOf }) =>
      async (actAs: string | readonly string[], ...exercise: Exercise) => {
        const [entity, contractId, choice, argument = {}] = exercise
        const parties = typeof actAs === 'string' ? [actAs] : actAs
        const { status, body } = await submit(
          parties,
          commandOf(entity, contractId, choice, argument),
        )
        expect(status, JSON.stringify(body)).toBe(200)
        const { ExercisedEvent } = body.transaction.events[0]
        expect(ExercisedEvent).toMatchObject({
          choice,
          actingParties: expect.arrayContaining([...parties]),
        })
        return ExercisedEvent.exerciseResult
      },
  )
  /** Status and code of a refusal. */
  .extend(
    'fails',
    ({ submit, commandOf }) =>
      async (actAs: string, ...exercise: Exercise): Promise<string> => {
        const [entity, contractId, choice, argument = {}] = exercise
        const { status, body } = await submit(
          [actAs],
          commandOf(entity, contractId, choice, argument),
        )
        return `${status} ${body.code}`
      },
  )
  /** Active contracts of a template that alice sees. */
  .extend(
    'active',
    ({ client, alice }) =>
      async (entity: string): Promise<{ id: string; payload: Record<string, never> }[]> => {
        const { body: end } = await client.get('/v2/state/ledger-end')
        const TemplateFilter = { value: { templateId: refOf(entity) } }
        const { body } = await client.post('/v2/state/active-contracts', {
          activeAtOffset: end.offset,
          filter: {
            filtersByParty: { [alice]: { cumulative: [{ identifierFilter: { TemplateFilter } }] } },
          },
        })
        return body.map(
          ({
            contractEntry,
          }: {
            contractEntry: Record<string, { createdEvent: Record<string, never> }>
          }) => {
            const created = contractEntry['JsActiveContract']?.createdEvent
            return { id: created?.['contractId'], payload: created?.['createArgument'] }
          },
        )
      },
  )
  .extend(
    'coins',
    ({ active }) =>
      async () =>
        (await active('Coin')).map(({ id }) => id),
  )
  .extend(
    'inFuture',
    ({ world }) =>
      (micros: number) =>
        formatInstant(world.network.clock.nowMicros() + micros),
  )
  .extend(
    'request',
    ({ does, alice }) =>
      async (name: string) =>
        (
          await does(alice, 'AnsRules', 'AnsRules', 'AnsRules_RequestEntry', {
            name: `${name}.unverified.ns`,
            url: '',
            description: '',
            user: alice,
          })
        ).requestCid as string,
  )
  .extend('pay', ({ coins, request, does, alice }) => async (name: string): Promise<string> => {
    const accept = 'SubscriptionRequest_AcceptAndMakePayment'
    const inputs = await coins()
    const id = await request(name)
    return (await does(alice, 'SubscriptionRequest', id, accept, { inputs })).paymentCid
  })
  .extend(
    'entryOf',
    ({ active }) =>
      async (name: string) =>
        (await active('AnsEntry')).find(
          ({ payload }) => payload['name'] === `${name}.unverified.ns`,
        ),
  )

const refOf = (entity: string) => {
  const template = templates.find((one) => one.entity === entity)
  if (template === undefined) throw new Error(`there is no template ${entity}`)
  return templateRef(template)
}

type Exercise = readonly [entity: string, contractId: string, choice: string, argument?: object]

const REFUSED = '400 DAML_FAILURE'
const NOT_AUTHORIZED = '400 DAML_AUTHORIZATION_ERROR'

describe('coins', () => {
  const output = (receiver: string, lock: object | null) => ({ receiver, amount: '1.5', lock })

  it('are tapped, moved, locked and released', async ({
    alice,
    does,
    inFuture,
    bob,
    fails,
    world,
  }) => {
    const tapped = { receiver: alice, amount: '10.0' }
    const { coinCid } = await does(alice, 'CoinRules', 'CoinRules', 'CoinRules_DevNet_Tap', tapped)
    const lock = { holders: [alice], expiresAt: inFuture(60 * SECOND_MICROS), optContext: null }
    const outputs = [output(alice, lock), output(alice, lock), output(bob, null)]
    const moved = await does([alice, bob], 'CoinRules', 'CoinRules', 'CoinRules_Transfer', {
      sender: alice,
      inputs: [coinCid],
      outputs,
    })
    expect(moved).toMatchObject({ inputAmount: '10.0000000000', changeAmount: '5.5000000000' })
    const [first, second] = moved.createdCoins
    expect(await fails(bob, 'LockedCoin', first, 'LockedCoin_Unlock')).toBe(
      '404 CONTRACT_NOT_FOUND',
    )
    await does(alice, 'LockedCoin', first, 'LockedCoin_Unlock')
    expect(await fails(alice, 'LockedCoin', second, 'LockedCoin_OwnerExpireLock')).toBe(REFUSED)
    await world.network.advance(61 * SECOND_MICROS)
    await does(alice, 'LockedCoin', second, 'LockedCoin_OwnerExpireLock')
    const minted = { ...tapped, round: { number: '0' } }
    expect(await fails(alice, 'CoinRules', 'CoinRules', 'CoinRules_Mint', minted)).toBe(
      NOT_AUTHORIZED,
    )
  })

  it('are offered, and offers are accepted, rejected or withdrawn', async ({
    does,
    alice,
    bob,
    coins,
    inFuture,
    fails,
  }) => {
    const offer = async () => {
      const made = await does(
        alice,
        'CoinRules',
        'CoinRules',
        'CoinRules_CreateTransferInstruction',
        {
          sender: alice,
          receiver: bob,
          amount: '1.0',
          inputs: await coins(),
          executeBefore: inFuture(300 * DAY_MICROS),
          description: '',
          trackingId: randomUUID(),
        },
      )
      return String(made.transferInstructionCid)
    }
    const kind = 'TransferInstruction'
    expect(await fails(alice, kind, await offer(), `${kind}_Accept`)).toBe(NOT_AUTHORIZED)
    await does(bob, kind, await offer(), `${kind}_Accept`)
    await does(bob, kind, await offer(), `${kind}_Reject`)
    await does(alice, kind, await offer(), `${kind}_Withdraw`)
    expect(await fails(bob, kind, await offer(), `${kind}_Expire`, { actor: bob })).toBe(REFUSED)
  })
})

describe('names', () => {
  it('are requested, paid, renewed, cancelled and expired', async ({
    request,
    does,
    alice,
    pay,
    fails,
    world,
    entryOf,
    active,
    coins,
  }) => {
    const refused = await request('refused')
    await does(alice, 'SubscriptionRequest', refused, 'SubscriptionRequest_Reject')
    const mine = { actor: alice }
    for (const name of ['kept', 'left']) {
      const payment = await pay(name)
      const expire = 'SubscriptionInitialPayment_Expire'
      expect(await fails(alice, 'SubscriptionInitialPayment', payment, expire, mine)).toBe(REFUSED)
    }
    world.network.setWorking(true)
    await world.until('both entries', async () =>
      (await entryOf('kept')) !== undefined && (await entryOf('left')) !== undefined
        ? true
        : undefined,
    )
    world.network.setWorking(false)

    const entry = await entryOf('kept')
    const entryId = String(entry?.id)
    expect(await fails(alice, 'AnsEntry', entryId, 'AnsEntry_Expire', mine)).toBe(REFUSED)
    const longer = { extension: { microseconds: '1' } }
    expect(await fails(alice, 'AnsEntry', entryId, 'AnsEntry_Renew', longer)).toBe(NOT_AUTHORIZED)
    const contexts = await active('AnsEntryContext')
    const context = String(
      contexts.find(({ payload }) => payload['name'] === 'kept.unverified.ns')?.id,
    )
    const reference = contexts.find(({ id }) => id === context)?.payload['reference']
    const idleOf = async (isKept: boolean) =>
      String(
        (await active('SubscriptionIdleState')).find(
          ({ payload }) => (payload['reference'] === reference) === isKept,
        )?.id,
      )
    const idle = 'SubscriptionIdleState'
    const makePayment = `${idle}_MakePayment`
    const inputs = await coins()
    expect(await fails(alice, idle, await idleOf(true), makePayment, { inputs })).toBe(REFUSED)
    await world.network.advance(61 * DAY_MICROS)
    const { paymentCid } = await does(alice, idle, await idleOf(true), makePayment, { inputs })
    for (const [choice, argument, want] of [
      ['SubscriptionPayment_Expire', mine, REFUSED],
      ['SubscriptionPayment_Collect', {}, NOT_AUTHORIZED],
    ] as const)
      expect(await fails(alice, 'SubscriptionPayment', paymentCid, choice, argument)).toBe(want)
    world.network.setWorking(true)
    await world.until('the renewal', async () =>
      (await entryOf('kept'))?.id === entryId ? undefined : true,
    )
    world.network.setWorking(false)

    const cancel = `${idle}_CancelSubscription`
    const { terminatedSubscription } = await does(alice, idle, await idleOf(true), cancel)
    await does(alice, 'AnsEntryContext', context, 'AnsEntryContext_Terminate', {
      ...mine,
      terminatedSubscription,
    })
    const expire = `${idle}_ExpireSubscription`
    expect(await fails(alice, idle, await idleOf(false), expire, mine)).toBe(REFUSED)
    await world.network.advance(30 * DAY_MICROS)
    await does(alice, idle, await idleOf(false), expire, mine)
    await does(alice, 'AnsEntry', String((await entryOf('left'))?.id), 'AnsEntry_Expire', mine)
  })

  it('cannot be changed by users', async ({ fails, alice }) => {
    const config = { config: {} }
    expect(await fails(alice, 'AnsRules', 'AnsRules', 'AnsRules_SetConfig', config)).toMatch(
      /^400 /,
    )
    for (const choice of ['ExpireAnsEntry', 'AdvanceOpenMiningRounds', 'ConfirmAction'])
      expect(await fails(alice, 'DsoRules', 'DsoRules', `DsoRules_${choice}`)).toMatch(/^400 /)
  })
})
