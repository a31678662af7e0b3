/** Definitions of a later version of the protocol, beside those that networks use. */
import type { Command } from '@quorumscan/model'
import { expect, it } from 'vitest'
import { prepareCommands } from './command-preparation.ts'
import { createContractCodec } from './contract-codec.ts'
import { contractId, optional, party, record, text } from './lf.ts'
import {
  choicesOf,
  createRegistry,
  packages,
  REGISTRY,
  templateIdOf,
  templates,
} from './registry.ts'
import { NEWEST_RULES } from './rules.ts'
import { defineChoice, defineNextVersion, defineTemplate, templateRef } from './template.ts'
import { coin } from './templates/coin.ts'
import { expiringAmount } from './templates/shared.ts'
import { Scenario } from './testing/index.ts'
import { LedgerTransaction } from './transaction.ts'

const NOW = NEWEST_RULES.version
const NEXT = NOW + 1

const tally = defineTemplate({
  packageName: 'quorumscan-coin',
  module: 'Coin',
  entity: 'Tally',
  since: NEXT,
  type: record('Tally', { dso: party }),
  signatories: ({ dso }) => [dso],
})
const nextCoin = defineNextVersion(coin, {
  since: NEXT,
  type: record('Coin', { dso: party, owner: party, amount: expiringAmount, memo: optional(text) }),
  upgrade: (earlier) => ({ ...earlier, memo: null }),
})
const note = defineChoice(nextCoin, 'Coin_Note', {
  consuming: true,
  argument: record('Coin_Note', { memo: text }),
  result: record('Coin_NoteResult', { coinCid: contractId }),
  controllers: ({ owner }) => [owner],
  run: (tx, { payload }, { memo }) => ({ coinCid: tx.create(nextCoin, { ...payload, memo }) }),
})
const choices = templates.flatMap((template) =>
  choicesOf(template).filter((choice) => choice.template === template),
)
const registry = createRegistry([...templates, nextCoin, tally], [...choices, note])
const idOfNext = registry.templateIdOf(nextCoin)

function storyWithCoin() {
  const story = new Scenario()
  const alice = story.actor('alice')
  story.register(alice, 'alice.unverified.ns')
  const id = story.tap(alice, '5')
  const { genesis, genesisHash } = story.network
  const transaction = (version: number, definitions = registry) =>
    new LedgerTransaction({
      rules: { ...NEWEST_RULES, version },
      view: {
        contract: (one) => story.ledger.contract(one),
        index: () => [],
        change: () => null,
        seen: () => null,
        isPartyAllocated: () => true,
      },
      genesis,
      genesisHash,
      offset: 1000,
      recordTime: story.ledger.head().recordTime + 1,
      updateId: `1220${'ab'.repeat(32)}`,
      authority: [genesis.dso, alice.party],
      registry: definitions,
    })
  const payload = REGISTRY.payloadOf(coin, story.ledger.contract(id) as never)
  return { story, id, transaction, payload }
}

it('new templates, versions and choices leave the ids of all others', () => {
  expect(registry.packages.slice(0, packages.length)).toEqual(packages)
  expect(registry.packages.slice(packages.length)).toMatchObject([
    { name: 'quorumscan-coin', since: NEXT },
  ])
  for (const template of templates)
    expect(registry.templateIdOf(template)).toBe(templateIdOf(template))
  const [added] = registry.packages.slice(-1)
  expect(idOfNext).toBe(`${added?.id}:Coin:Coin`)
  expect(registry.templateIdOf(tally)).toBe(`${added?.id}:Coin:Tally`)
  expect(new Set(registry.packages.map(({ id }) => id)).size).toBe(registry.packages.length)
})

it('a version that changes rules alone has an id of its own', () => {
  const { type } = coin
  const sameType = (since: number) =>
    defineNextVersion(coin, { since, type, upgrade: (earlier) => earlier })
  const ids = [NEXT, NEXT + 1].map((since) => {
    const version = sameType(since)
    return createRegistry([...templates, version], choices).templateIdOf(version)
  })
  expect(new Set([...ids, templateIdOf(coin)]).size).toBe(3)
})

it('stored contracts keep their bytes, and later versions are read back', () => {
  const { story, transaction, payload } = storyWithCoin()
  const network = { genesisHash: story.network.genesisHash, dso: story.network.genesis.dso }
  const [before, after] = [createContractCodec(network), createContractCodec(network, registry)]
  for (const contract of story.ledger.contracts()) {
    const bytes = before.encode(contract)
    expect(after.encode(contract)).toEqual(bytes)
    expect(after.decode(bytes)).toEqual(contract)
  }
  const tx = transaction(NEXT)
  tx.create(nextCoin, { ...payload, memo: 'for you' })
  tx.create(tally, { dso: network.dso })
  for (const contract of tx.finish().created) {
    // The update id follows from the place in the log.
    const { createdAt, payload: stored, templateId } = after.decode(after.encode(contract))
    expect({ createdAt, stored, templateId }).toEqual({
      createdAt: contract.createdAt,
      stored: contract.payload,
      templateId: contract.templateId,
    })
  }
})

it('a name means the newest version in force, and an id its own version', () => {
  const ref = templateRef(coin)
  expect(registry.findTemplate(ref, NOW)).toBe(coin)
  expect(registry.findTemplate(ref, NEXT)).toBe(nextCoin)
  expect(registry.findTemplate(ref, NEXT + 1)).toBe(nextCoin)
  for (const version of [NOW, NEXT])
    expect(registry.findTemplate(templateIdOf(coin), version)).toBe(coin)
  expect(registry.findTemplate(idOfNext, NEXT)).toBe(nextCoin)
  expect(registry.findTemplate(templateRef(tally), NEXT)).toBe(tally)
})

it('before its version is in force, a definition is refused as software without it refuses it', () => {
  const exercise: Command = {
    kind: 'exercise',
    template: templateRef(coin),
    contractId: `00${'ab'.repeat(32)}`,
    choice: note.name,
    argument: { memo: 'for you' },
  }
  const create: Command = { kind: 'create', template: templateRef(tally), argument: {} }
  for (const command of [exercise, create, { ...exercise, template: idOfNext }]) {
    const known = prepareCommands([command], { ...NEWEST_RULES, version: NOW }, registry)
    expect(known).toEqual(prepareCommands([command], NEWEST_RULES))
    expect(known).toMatchObject({ code: 'INVALID_ARGUMENT' })
  }
  expect(prepareCommands([exercise], { ...NEWEST_RULES, version: NEXT }, registry)).toMatchObject([
    { kind: 'ready' },
  ])
  const { id, transaction, payload } = storyWithCoin()
  expect(() => transaction(NOW).exercise(note, id, { memo: '' })).toThrow('is in force')
  expect(() => transaction(NOW).create(nextCoin, { ...payload, memo: null })).toThrow('in force')
})

it('before the version is in force, contracts are those of earlier software', () => {
  const { transaction, payload } = storyWithCoin()
  const made = [REGISTRY, registry].map((definitions) => {
    const tx = transaction(NOW, definitions)
    tx.create(coin, payload)
    return tx.finish()
  })
  expect(made[1]).toEqual(made[0])
})

it('contracts of both versions serve code of both versions', () => {
  const { id, transaction, payload } = storyWithCoin()
  const tx = transaction(NEXT)
  expect(tx.fetch(nextCoin, id).payload).toEqual({ ...payload, memo: null })
  const made = tx.create(coin, payload)
  expect(tx.active(made)).toMatchObject({ templateId: idOfNext, payload: { memo: null } })
  const { coinCid } = tx.exercise(note, id, { memo: 'for you' })
  expect(tx.fetch(nextCoin, coinCid).payload.memo).toBe('for you')
  expect(tx.fetch(coin, coinCid).payload).toMatchObject(payload)
  tx.archive(coin, coinCid)
  // The version that has the choice, and the version of the contract.
  expect(
    tx.finish().events.flatMap((event) => (event.kind === 'exercised' ? [event.templateId] : [])),
  ).toEqual([idOfNext, idOfNext])
})

it('definitions that would change others are not accepted', () => {
  const again = defineChoice(nextCoin, note.name, note)
  const twin = defineTemplate({ ...coin, since: NEXT })
  const early = defineNextVersion(coin, {
    since: coin.since,
    type: coin.type,
    upgrade: (one) => one,
  })
  for (const [added, more] of [
    [[nextCoin], [note, again]],
    [[twin], []],
    [[early], []],
  ] as const)
    expect(() => createRegistry([...templates, ...added], [...choices, ...more])).toThrow()
})
