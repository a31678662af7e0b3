/**
 * The ledger interface gives no caller anything beyond its rights.
 *
 * @module-tag rest
 */

import { randomUUID } from 'node:crypto'
import { contractIdOf, templateRef, templates } from '@quorumscan/ledger'
import type { HttpAnswer } from '@quorumscan/testkit'
import { expect } from 'vitest'
import { balanceOf } from '../testing/test-validator.ts'
import { itInWorld } from '../testing/world-fixtures.ts'

const it = itInWorld
  .extend('alice', { scope: 'file' }, ({ world }) => world.registered('alice'))
  .extend('mallory', { scope: 'file' }, ({ world }) => world.registered('mallory', null))
  .extend('client', { scope: 'file' }, ({ mallory }) => mallory.client)
  .extend(
    'submit',
    ({ client, mallory, contracts }) =>
      (commands: readonly object[], more: object = {}): Promise<HttpAnswer> =>
        client.post('/v2/commands/submit-and-wait', {
          commands,
          commandId: randomUUID(),
          actAs: [mallory.party],
          disclosedContracts: contracts.disclosedContracts,
          ...more,
        }),
  )
  /** A value of the type, with a party of the attacker's choice wherever there is one. */
  .extend(
    'sampleOf',
    ({ contracts }) =>
      function sampleOf(descriptor: unknown, party: string): unknown {
        if (typeof descriptor === 'string')
          return (
            (
              {
                Party: party,
                ContractId: contracts.rules['CoinRules'],
                Decimal: '1000000.0',
                Int: '1',
                Time: '2099-01-01T00:00:00Z',
                Bool: true,
                RelTime: { microseconds: '1000000' },
                Unit: {},
              } as Record<string, unknown>
            )[descriptor] ?? 'mallory.unverified.ns'
          )
        const type = descriptor as Record<string, never>
        if ('optional' in type) return null
        if ('list' in type) return [sampleOf(type['list'], party)]
        const members = (pairs: readonly [string, unknown][]) =>
          Object.fromEntries(pairs.map(([name, of]) => [name, sampleOf(of, party)]))
        if ('fields' in type) return members(type['fields'])
        if ('cases' in type) {
          const [first] = type['cases'] as readonly [string, unknown][]
          return { tag: first?.[0], value: sampleOf(first?.[1], party) }
        }
        return (type['values'] as unknown as readonly string[])[0]
      },
  )

const outcome = ({ status, type, body }: HttpAnswer) =>
  type === 'text/plain' ? `${status} text` : `${status} ${body.code ?? ''}`

it('creating any template with oneself as the operator party has no effect', async ({
  client,
  sampleOf,
  mallory,
  submit,
  world,
}) => {
  const end = (await client.get('/v2/state/ledger-end')).body.offset
  for (const template of templates) {
    const create = {
      CreateCommand: {
        templateId: templateRef(template),
        createArguments: sampleOf(template.type.descriptor, mallory.party),
      },
    }
    expect(outcome(await submit([create])), template.entity).toMatch(
      /^400 (TEMPLATE_PRECONDITION_VIOLATED|DAML_AUTHORIZATION_ERROR)$/,
    )
  }
  for (const template of templates) {
    const create = {
      CreateCommand: {
        templateId: templateRef(template),
        createArguments: sampleOf(template.type.descriptor, world.network.genesis.dso),
      },
    }
    expect(outcome(await submit([create])), template.entity).toBe('400 DAML_AUTHORIZATION_ERROR')
  }
  // No completion, and nothing in the log but checkpoints.
  const { body } = await client.post('/v2/commands/completions', {
    parties: [mallory.party],
    beginExclusive: end,
  })
  expect(body.filter((one: object) => JSON.stringify(one).includes('Completion"'))).toEqual([])
})

it('acting as the operator party has no effect, even with the right to', async ({
  world,
  contracts,
  mallory,
  submit,
}) => {
  const { dso } = world.network.genesis
  const mint = {
    ExerciseCommand: {
      templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
      contractId: contracts.rules['CoinRules'],
      choice: 'CoinRules_Mint',
      choiceArgument: { receiver: mallory.party, amount: '1000', round: { number: '0' } },
    },
  }
  expect(outcome(await submit([mint]))).toBe('400 DAML_AUTHORIZATION_ERROR')
  expect(outcome(await submit([mint], { actAs: [dso, mallory.party] }))).toBe('403 NA')
  const admin = await world.clientOf('participant_admin')
  const rights = [{ kind: { CanActAs: { value: { party: dso } } } }]
  expect(await admin.post('/v2/users/mallory/rights', { rights })).toAnswer(200)
  expect(outcome(await submit([mint], { actAs: [dso, mallory.party] }))).toBe(
    '404 UNKNOWN_SUBMITTERS',
  )
  expect((await balanceOf(mallory.client)).unlocked).toBe('0.0000000000')
})

it('replaying the submission of another user has no effect, as either user', async ({
  world,
  contracts,
  alice,
  client,
  mallory,
}) => {
  const ofAlice = await world.clientOf('alice')
  const body = contracts.tapRequest(alice.party, { userId: 'alice' })
  expect(await ofAlice.post('/v2/commands/submit-and-wait', body)).toAnswer(200)
  const before = await balanceOf(alice.client)
  const path = '/v2/commands/submit-and-wait'
  expect(outcome(await client.post(path, body))).toBe('403 NA')
  expect(outcome(await client.post(path, { ...body, userId: 'mallory' }))).toBe('403 NA')
  expect(outcome(await client.post(path, { ...body, userId: '', actAs: [mallory.party] }))).toBe(
    '400 DAML_AUTHORIZATION_ERROR',
  )
  expect(await balanceOf(alice.client)).toEqual(before)
})

it('disclosing a forged blob, or a valid one of another party, has no effect', async ({
  alice,
  contracts,
  mallory,
  submit,
}) => {
  const { coins } = (await alice.client.get('/v0/wallet/coins')).body as never as {
    coins: readonly {
      contract: { contract: { contract_id: string; created_event_blob: string } }
    }[]
  }
  const { contract_id: contractId, created_event_blob: blob } = coins[0]?.contract.contract ?? {}
  if (contractId === undefined || blob === undefined) throw new Error('alice has a coin')
  const steal = (id: string) => ({
    ExerciseCommand: {
      templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
      contractId: contracts.rules['CoinRules'],
      choice: 'CoinRules_Transfer',
      choiceArgument: { sender: mallory.party, inputs: [id], outputs: [] },
    },
  })
  const disclose = (createdEventBlob: string, id?: string) => ({
    disclosedContracts: [
      ...contracts.disclosedContracts,
      { createdEventBlob, ...(id === undefined ? {} : { contractId: id }) },
    ],
  })
  expect(outcome(await submit([steal(contractId)]))).toBe('404 CONTRACT_NOT_FOUND')
  // A valid blob discloses the contract, but gives no right to it.
  expect(outcome(await submit([steal(contractId)], disclose(blob, contractId)))).toBe(
    '400 DAML_AUTHORIZATION_ERROR',
  )
  const text = Buffer.from(blob, 'base64').toString('utf8')
  const forged = text.replaceAll(alice.party, mallory.party)
  expect(forged).not.toBe(text)
  const forgedBlob = Buffer.from(forged).toString('base64')
  // With the id of the valid contract.
  expect(outcome(await submit([steal(contractId)], disclose(forgedBlob, contractId)))).toBe(
    '400 INVALID_ARGUMENT',
  )
  // With the id that its hash yields, which no ledger has.
  const made = JSON.parse(forged.slice(forged.indexOf('{')))
  const forgedId = contractIdOf(made)
  expect(outcome(await submit([steal(forgedId)], disclose(forgedBlob, forgedId)))).toBe(
    '404 CONTRACT_NOT_FOUND',
  )
  expect((await balanceOf(mallory.client)).unlocked).toBe('0.0000000000')
})
