/**
 * Hostile input: an exception inside interpretation would end every replica, so whatever a participant
 * signs must end in a result. Commands are made from the types of all templates and choices, with real
 * ids, parties and amounts in them, and then broken in places.
 * @module-tag thorough
 */

import type { Command, DamlValue } from '@quorumscan/model'
import { canonicalJson, type Json, NAME_SUFFIX } from '@quorumscan/verifier'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { activityRowsOf } from './activities.ts'
import { makePaymentCommand } from './commands.ts'
import { createContractCodec } from './contract-codec.ts'
import { dueOf, keysOf } from './contract-keys.ts'
import { encodeResult } from './history.ts'
import { type AnyChoice, choicesOf, templateOf, templates } from './registry.ts'
import { templateRef } from './template.ts'
import { coinRules } from './templates/coin-rules.ts'
import { subscriptionIdleState } from './templates/subscription-idle-state.ts'
import { type Actor, Scenario } from './testing/index.ts'

const DAY_MICROS = 86_400_000_000
const RUNS = 3
const STEPS_PER_RUN = 100

/** A ledger with contracts of nearly every template, and the parties that may act on them. */
function busyStory(): { story: Scenario; actors: readonly (readonly Actor[])[] } {
  const story = new Scenario()
  const alice = story.actor('alice', 'shared')
  const bob = story.actor('bob', 'shared')
  const mallory = story.actor('mallory')
  story.register(alice, `a${NAME_SUFFIX}`)
  story.ledger.advance(61 * DAY_MICROS)
  story.tap(alice, '900')
  const idle = story.ledger.all(subscriptionIdleState)[0]?.contractId ?? ''
  story.do(alice, makePaymentCommand({ idle, inputs: story.coins(alice) }))
  story.register(bob, `b${NAME_SUFFIX}`)
  story.request(alice, `c${NAME_SUFFIX}`)
  story.tap(bob, '900')
  story.confirm(0, story.pay(bob, `d${NAME_SUFFIX}`).payment)
  story.tap(mallory, '50')
  return { story, actors: [[alice, bob], [mallory], ...story.svs.map((sv) => [sv])] }
}

const HOSTILE: readonly DamlValue[] = [
  null,
  true,
  '',
  '0',
  '-1',
  '9007199254740991',
  '-9007199254740991',
  `${'9'.repeat(28)}.${'9'.repeat(10)}`,
  `-${'9'.repeat(28)}.9999999999`,
  '0.0000000001',
  '1970-01-01T00:00:00Z',
  '2255-06-05T23:47:34.740991Z',
  '\u0000\u2028\ufeff',
  'constructor',
  [],
  {},
  { constructor: null },
  { tag: 'constructor', value: {} },
  { microseconds: '-9007199254740991' },
]
const SCALARS: Readonly<Record<string, readonly DamlValue[]>> = {
  Text: ['', 'x', `e${NAME_SUFFIX}`, `a${NAME_SUFFIX}`, 'http://x', 'ab'.repeat(64)],
  Decimal: ['1', '200', '0.0000000001', '-5', '0', '9'.repeat(28)],
  Int: ['0', '1', '-1', '3', '9007199254740991', '-9007199254740991'],
  Time: ['1970-01-01T00:00:00Z', '2030-01-01T00:00:00.000001Z', '2255-06-05T23:47:34.740991Z'],
  Bool: [true, false],
  Unit: [{}],
  RelTime: ['1', '0', '-1', '3600000000', '9007199254740991', '-9007199254740991'].map(
    (microseconds) => ({ microseconds }),
  ),
}

/** Draws numbers from a stream of fast-check, so that a failure can be repeated by its seed. */
class Draw {
  readonly #numbers: Iterator<number>

  constructor(numbers: Iterator<number>) {
    this.#numbers = numbers
  }

  below(count: number): number {
    return (this.#numbers.next().value as number) % count
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }
}

/** Parties and contract ids that generated values contain. */
type World = {
  readonly dso: string
  readonly self: string
  readonly parties: readonly string[]
  readonly idsByEntity: ReadonlyMap<string, readonly string[]>
  readonly ids: readonly string[]
}

/** A value of the described type, except for one in forty. */
function madeOf(draw: Draw, type: Json, world: World, field = ''): DamlValue {
  if (draw.oneIn(40)) return draw.of(HOSTILE)
  if (type === 'Party')
    return draw.oneIn(5) ? draw.of(world.parties) : /dso/.test(field) ? world.dso : world.self
  if (type === 'ContractId') return draw.of(idsFor(field, world))
  if (typeof type === 'string') return draw.of(SCALARS[type] ?? [])
  const composite = type as { readonly [member: string]: Json }
  if ('record' in composite) {
    const fields = composite['fields'] as readonly (readonly [string, Json])[]
    return Object.fromEntries(fields.map(([name, of]) => [name, madeOf(draw, of, world, name)]))
  }
  if ('list' in composite)
    return Array.from({ length: draw.below(4) }, () =>
      madeOf(draw, composite['list'] as Json, world, field),
    )
  if ('optional' in composite)
    return draw.oneIn(2) ? null : madeOf(draw, composite['optional'] as Json, world, field)
  if ('enum' in composite) return draw.of(composite['values'] as readonly string[])
  const [tag, of] = draw.of(composite['cases'] as readonly (readonly [string, Json])[])
  return { tag, value: madeOf(draw, of, world) }
}

/** Fields with the entity of the contract that they usually name. */
const ENTITY_BY_FIELD: Readonly<Record<string, string>> = {
  inputs: 'Coin',
  idle: 'SubscriptionIdleState',
  request: 'SubscriptionRequest',
  reference: 'SubscriptionRequest',
  entry: 'AnsEntry',
  context: 'AnsEntryContext',
  lockedCoin: 'LockedCoin',
  subscription: 'Subscription',
  ansRules: 'AnsRules',
  terminated: 'TerminatedSubscription',
  terminatedSubscription: 'TerminatedSubscription',
  payment: 'SubscriptionInitialPayment',
}

function idsFor(field: string, world: World): readonly string[] {
  return world.idsByEntity.get(ENTITY_BY_FIELD[field] ?? '') ?? world.ids
}

function commandOf(draw: Draw, world: World): Command {
  const template = draw.of(templates)
  const ref = templateRef(template)
  const payload = () => madeOf(draw, template.type.descriptor, world)
  const choices = choicesOf(template)
  if (choices.length === 0 || draw.oneIn(6))
    return { kind: 'create', template: ref, argument: payload() }
  const { name, argument: type }: AnyChoice = draw.of(choices)
  const choice = draw.oneIn(20) ? 'Archive' : name
  const argument = madeOf(draw, type.descriptor, world)
  if (draw.oneIn(8))
    return { kind: 'createAndExercise', template: ref, createArgument: payload(), choice, argument }
  const ids = world.idsByEntity.get(template.entity) ?? world.ids
  const contractId = draw.of(draw.oneIn(20) ? world.ids : ids)
  return { kind: 'exercise', template: ref, contractId, choice, argument }
}

function worldOf(story: Scenario, actors: readonly (readonly Actor[])[], self: string): World {
  const idsByEntity = new Map<string, string[]>()
  const contracts = story.ledger.contracts()
  for (const contract of contracts) {
    const { entity } = templateOf(contract)
    idsByEntity.set(entity, [...(idsByEntity.get(entity) ?? []), contract.contractId])
  }
  const { dso } = story.network.genesis
  const parties = [dso, ...actors.flat().map(({ party }) => party)]
  return { dso, self, parties, idsByEntity, ids: contracts.map(({ contractId }) => contractId) }
}

it('any signed bytes give a result, and create no contract that the operator did not sign', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
      const draw = new Draw(numbers)
      const { story, actors } = busyStory()
      const { dso, synchronizerId } = story.network.genesis
      const codec = createContractCodec({ genesisHash: story.network.genesisHash, dso })
      for (let step = 0; step < STEPS_PER_RUN; step++) {
        const submitters = draw.of(actors)
        const world = worldOf(story, actors, draw.of(submitters).party)
        const bytes = story.ledger.sign({
          keyPair: (submitters[0] as Actor).keyPair,
          actAs: submitters.map(({ party }) => party),
          commands: Array.from({ length: draw.oneIn(4) ? 3 : 1 }, () => commandOf(draw, world)),
        })
        const { offset, recordTime, result, created } = story.ledger.append(bytes)
        activityRowsOf({ offset, recordTime, synchronizerId, result })
        expect(Buffer.from(encodeResult(result)).toString()).toBe(canonicalJson(result))
        for (const contract of created) {
          expect(contract.signatories, contract.templateId).toContain(dso)
          expect(story.ledger.contract(contract.contractId)).toEqual(contract)
          expect(codec.encode(contract).byteLength).toBeGreaterThan(0)
          expect(keysOf(contract).length).toBeGreaterThan(0)
          for (const { at } of dueOf(contract)) expect(Number.isSafeInteger(at)).toBe(true)
        }
      }
      // The rules always exist.
      story.the(coinRules)
    }),
    { numRuns: RUNS },
  )
})
