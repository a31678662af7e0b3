import { fromUtf8, utf8 } from '@quorumscan/base'
import { canonicalJson, NAME_SUFFIX } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { makePaymentCommand, rejectRequestCommand } from './commands.ts'
import { createContractCodec } from './contract-codec.ts'
import { contractBlob, contractIdOf, isBlobOf, payloadText } from './contract-id.ts'
import { dueOf, keysOf } from './contract-keys.ts'
import { genesisDelta } from './genesis-state.ts'
import { encodeResult } from './history.ts'
import { packages, payloadOf, templateOf, templates } from './registry.ts'
import { ansEntry } from './templates/ans-entry.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { MemoryLedger, Scenario } from './testing/index.ts'
import { WorkingState } from './working-state.ts'

/** A ledger with contracts of nearly every template. */
function busyStory(): Scenario {
  const story = new Scenario()
  const alice = story.actor('alice')
  story.register(alice, `a${NAME_SUFFIX}`)
  story.register(alice, `b${NAME_SUFFIX}`)
  story.tap(alice, '900')
  story.request(alice, `c${NAME_SUFFIX}`)
  const { payment } = story.pay(alice, `d${NAME_SUFFIX}`)
  story.confirm(0, payment)
  story.ledger.advance(61 * 86_400_000_000)
  const idle = story.ledger.all(subscriptionIdleState)[0]?.contractId as string
  story.do(alice, makePaymentCommand({ idle, inputs: story.coins(alice) }))
  return story
}

function codecOf({ network }: Scenario) {
  return createContractCodec({ genesisHash: network.genesisHash, dso: network.genesis.dso })
}

it('the stored form of a contract decodes to the contract, and encodes to the same bytes', () => {
  const story = busyStory()
  const codec = codecOf(story)
  for (const contract of story.ledger.contracts()) {
    const bytes = codec.encode(contract)
    expect(codec.decode(bytes)).toEqual(contract)
    expect(codec.encode(codec.decode(bytes))).toEqual(bytes)
  }
})

it('a contract as interpretation makes it equals the one that is read back', () => {
  const story = new Scenario()
  const { genesis, genesisHash } = story.network
  const codec = codecOf(story)
  for (const contract of genesisDelta(genesis, genesisHash).created)
    expect(codec.decode(codec.encode(contract))).toEqual(contract)
})

it('a contract id is the hash of its blob, and of nothing else', () => {
  const [contract] = busyStory().ledger.contracts()
  if (contract === undefined) throw new Error('a contract')
  expect(contractIdOf(contract)).toBe(contract.contractId)
  const blob = Buffer.from(contractBlob(contract)).toString('base64')
  expect(isBlobOf(contract.contractId, blob)).toBe(true)
  expect(isBlobOf(contract.contractId, `${blob} `)).toBe(false)
  expect(contractIdOf({ ...contract, nodeId: contract.nodeId + 1 })).not.toBe(contract.contractId)
})

it('the operator signs every template, so that no party creates a contract alone', () => {
  const story = busyStory()
  for (const contract of story.ledger.contracts())
    expect(contract.signatories, contract.templateId).toContain(story.network.genesis.dso)
})

it('contracts are indexed by stakeholder and by their lookup keys', () => {
  const story = new Scenario()
  const alice = story.actor('alice')
  story.register(alice, `a${NAME_SUFFIX}`)
  const keys = story.ledger
    .contracts()
    .filter((contract) => contract.signatories.includes(alice.party))
    .map((contract) => [
      templateOf(contract).entity,
      keysOf(contract).map((key) =>
        key.replace(/00[0-9a-f]{64}/, '#').replace(alice.party, 'alice'),
      ),
    ])
  expect(Object.fromEntries(keys)).toEqual({
    AnsEntry: ['party:AnsEntry:alice', `name:a${NAME_SUFFIX}`],
    AnsEntryContext: ['party:AnsEntryContext:alice', 'context:#'],
    Subscription: ['party:Subscription:alice', 'reference:#'],
    SubscriptionIdleState: ['party:SubscriptionIdleState:alice', 'subscription:#'],
  })
})

it('jobs are due as soon as their choices are accepted', () => {
  const story = busyStory()
  const [entry] = story.ledger.all(ansEntry)
  if (entry === undefined) throw new Error('an entry')
  expect(dueOf(entry.contract)).toEqual([
    { job: 'expire-entry', contractId: entry.contractId, at: entry.payload.expiresAt },
  ])
  const [idle] = story.ledger.all(subscriptionIdleState)
  expect(
    idle && dueOf(idle.contract).map(({ job, at }) => [job, at - idle.payload.nextPaymentDueAt]),
  ).toEqual([
    ['renew-subscription', -30 * 86_400_000_000],
    ['expire-subscription', 1],
  ])
})

it('there are 17 templates in 4 packages, with hashes as package ids', () => {
  expect(templates).toHaveLength(17)
  expect(new Set(packages.map(({ id }) => id)).size).toBe(4)
  for (const { id } of packages) expect(id).toMatch(/^[0-9a-f]{64}$/)
})

it('the same log gives the same history and state, entry by entry', () => {
  const story = busyStory()
  const again = new MemoryLedger(story.network)
  for (const { bytes, recordTime } of story.ledger.entries()) again.append(bytes, recordTime)
  expect(again.head()).toEqual(story.ledger.head())
  expect(again.contracts()).toEqual(story.ledger.contracts())
})

it('the history hash depends on time, bytes and every entry before', () => {
  const story = busyStory()
  const entries = story.ledger.entries()
  const historyOf = (changed: (index: number) => number) => {
    const ledger = new MemoryLedger(story.network)
    for (const [index, { bytes, recordTime }] of entries.entries())
      ledger.append(bytes, recordTime + changed(index))
    return ledger.head().historyHash
  }
  const last = entries.length - 1
  expect(historyOf((index) => (index === last ? 1 : 0))).not.toBe(story.ledger.head().historyHash)
  expect(historyOf(() => 0)).toBe(story.ledger.head().historyHash)
})

it('entries that are loaded after a change contain the change', () => {
  const { genesis, genesisHash } = new Scenario().network
  const delta = genesisDelta(genesis, genesisHash)
  const [rules, names, ...others] = delta.created
  if (rules === undefined || names === undefined) throw new Error('contracts')
  const state = new WorkingState()
  state.apply({ ...delta, created: others })
  state.apply({ ...delta, created: [], archived: [rules], allocated: [] })
  state.load([
    { kind: 'index', key: 'singleton:DsoRules', value: [rules.contractId] },
    { kind: 'contract', id: rules.contractId, value: rules },
    { kind: 'index', key: 'rounds', value: [names.contractId] },
  ])
  expect(state.index('singleton:DsoRules')).toEqual([])
  expect(state.contract(rules.contractId)).toBeNull()
  expect(state.index('rounds')).toHaveLength(4)
  state.endBatch()
  state.load([{ kind: 'index', key: 'transfers', value: [names.contractId] }])
  expect(state.index('transfers')).toEqual([names.contractId])
})

it('a result is hashed as its canonical JSON', () => {
  const story = busyStory()
  const carol = story.actor('carol')
  story.submit(carol, rejectRequestCommand({ request: `00${'ab'.repeat(32)}` }))
  story.ledger.append(utf8('noise'))
  const kinds = new Set(story.ledger.results().map(({ kind }) => kind))
  expect(kinds).toEqual(new Set(['accepted', 'checkpoint', 'rejected', 'ignored']))
  for (const result of story.ledger.results())
    expect(fromUtf8(encodeResult(result))).toBe(canonicalJson(result))
})

it('the payload of a contract equals what its stored form decodes to', () => {
  const { genesis, genesisHash } = new Scenario().network
  for (const contract of genesisDelta(genesis, genesisHash).created) {
    const template = templateOf(contract)
    expect(payloadOf(template, contract)).toEqual(template.type.decode(contract.payload, []))
    expect(payloadText(contract.payload)).toBe(canonicalJson(contract.payload))
  }
})
