import { fromUtf8 } from '@quorumscan/base'
import { canonicalJson, type Json } from '@quorumscan/consensus'
import { type Command, NAME_SUFFIX } from '@quorumscan/model'
import { expect, test } from 'vitest'
import { requestEntryCommand, tapCommand, transferCommand } from './commands.ts'
import { decodeEntry } from './entry.ts'
import { genesisDelta } from './genesis-state.ts'
import { encodeResult } from './history.ts'
import { interpret, UnknownInterpretationVersionError } from './interpret.ts'
import { ansRules } from './templates/ans-rules.ts'
import { coin } from './templates/coin.ts'
import { coinRules } from './templates/coin-rules.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { DAY_MICROS, outcomeOf, Scenario } from './testing/index.ts'
import { WorkingState } from './working-state.ts'

function begin(options?: ConstructorParameters<typeof Scenario>[0]) {
  const story = new Scenario(options)
  const alice = story.actor('alice')
  const tap: Command = tapCommand({
    coinRules: story.the(coinRules),
    receiver: alice.party,
    amount: 1n,
  })
  const coins = () => story.ledger.all(coin).length
  return { story, alice, tap, coins }
}

test('the same bytes count once, however often they are appended', () => {
  const { story, alice, tap, coins } = begin()
  const bytes = story.ledger.sign({ keyPair: alice.keyPair, actAs: [alice.party], commands: [tap] })
  const outcomes = [1, 2, 3].map(() => outcomeOf(story.ledger.append(bytes).result))
  expect(outcomes).toEqual(['accepted', 'ignored: seen before', 'ignored: seen before'])
  expect(coins()).toBe(1)
})

test('rejected bytes are seen as well', () => {
  const { story, alice } = begin()
  const refused = tapCommand({
    coinRules: story.the(coinRules),
    receiver: alice.party,
    amount: 0n,
  })
  const bytes = story.ledger.sign({
    keyPair: alice.keyPair,
    actAs: [alice.party],
    commands: [refused],
  })
  expect(outcomeOf(story.ledger.append(bytes).result)).toBe('INVALID_ARGUMENT')
  expect(outcomeOf(story.ledger.append(bytes).result)).toBe('ignored: seen before')
})

test('an entry counts until notAfter, which lies at most ten minutes ahead', () => {
  const { story, alice, tap } = begin()
  const submitAt = (notAfter: number) =>
    outcomeOf(story.submit(alice, tap, { notAfter: story.ledger.head().recordTime + 1 + notAfter }))
  expect(submitAt(-1)).toBe('ignored: not after')
  expect(submitAt(0)).toBe('accepted')
  expect(submitAt(600_000_000)).toBe('accepted')
  expect(submitAt(600_000_001)).toBe('ignored: not after')
})

test('a change id blocks for its period, by record time, to the microsecond', () => {
  const { story, alice, tap } = begin()
  const submit = (micros: number) =>
    outcomeOf(
      story.submit(alice, tap, {
        commandId: 'same',
        deduplication: { kind: 'duration', micros },
      }),
    )
  expect(submit(0)).toBe('accepted')
  expect(submit(1)).toBe('DUPLICATE_COMMAND')
  expect(submit(1)).toBe('accepted')
  story.ledger.advance(1000)
  expect(submit(1001)).toBe('DUPLICATE_COMMAND')
  // A refusal is no acceptance: what blocks is still the second acceptance, 1002 µs ago.
  expect(submit(1002)).toBe('DUPLICATE_COMMAND')
  expect(submit(1002)).toBe('accepted')
})

test('a change id blocks for what was accepted after an offset', () => {
  const { story, alice, tap } = begin()
  const submit = (offset: number) =>
    outcomeOf(
      story.submit(alice, tap, {
        commandId: 'same',
        deduplication: { kind: 'offset', offset },
      }),
    )
  expect(submit(0)).toBe('accepted')
  const accepted = story.ledger.head().offset
  expect(submit(accepted - 1)).toBe('DUPLICATE_COMMAND')
  expect(submit(accepted)).toBe('accepted')
})

test('user, set of actAs, command id and participant make the change; the rest does not', () => {
  const story = new Scenario()
  const alice = story.actor('alice', 'shared')
  const clerk = story.actor('clerk', 'shared')
  const bob = story.actor('bob')
  const period = { kind: 'duration', micros: DAY_MICROS } as const
  const tap = (receiver: string) =>
    tapCommand({ coinRules: story.the(coinRules), receiver, amount: 1n })
  const base = { commandId: 'same', deduplication: period }
  const submit = (more: object) =>
    outcomeOf(story.submit(alice, tap(alice.party), { ...base, ...more }))
  expect(submit({ actAs: [alice.party, clerk.party] })).toBe('accepted')
  expect(
    submit({ actAs: [clerk.party, alice.party], submissionId: 's', readAs: [clerk.party] }),
  ).toBe('DUPLICATE_COMMAND')
  expect(submit({ userId: 'other', actAs: [alice.party, clerk.party] })).toBe('accepted')
  expect(submit({})).toBe('accepted')
  expect(outcomeOf(story.submit(bob, tap(bob.party), base))).toBe('accepted')
})

test('a duplicate names the acceptance that blocks it', () => {
  const { story, alice, tap } = begin()
  const same = { commandId: 'same', deduplication: { kind: 'duration', micros: 1000 } } as const
  story.submit(alice, tap, { ...same, submissionId: 'first' })
  const { offset } = story.ledger.head()
  const again = story.submit(alice, tap, { ...same, submissionId: 'second' })
  expect(again).toMatchObject({
    code: 'DUPLICATE_COMMAND',
    prior: { offset, submissionId: 'first' },
  })
  expect(fromUtf8(encodeResult(again))).toBe(canonicalJson(again as unknown as Json))
})

test('a rejected command does not block its change id', () => {
  const { story, alice, tap } = begin()
  const bad = tapCommand({ coinRules: story.the(coinRules), receiver: alice.party, amount: 0n })
  const same = { commandId: 'same', deduplication: { kind: 'duration', micros: 1000 } } as const
  expect(outcomeOf(story.submit(alice, bad, same))).toBe('INVALID_ARGUMENT')
  expect(outcomeOf(story.submit(alice, tap, same))).toBe('accepted')
})

test('a period beyond the genesis maximum is refused, and records beyond it are forgotten', () => {
  const longest = 600_000_000
  const { story, alice, tap } = begin({ deduplicationMicrosMax: longest })
  const submit = (deduplication: Parameters<typeof story.submit>[2]) =>
    outcomeOf(story.submit(alice, tap, { commandId: 'same', ...deduplication }))
  expect(submit({ deduplication: { kind: 'duration', micros: longest + 1 } })).toBe(
    'INVALID_DEDUPLICATION_PERIOD',
  )
  expect(submit({ deduplication: { kind: 'duration', micros: longest } })).toBe('accepted')
  story.ledger.advance(longest)
  expect(submit({ deduplication: { kind: 'offset', offset: 0 } })).toBe('accepted')
})

test('a transaction acts wholly or not at all', () => {
  const { story, alice, tap, coins } = begin()
  const bad = tapCommand({ coinRules: story.the(coinRules), receiver: alice.party, amount: 0n })
  expect(outcomeOf(story.submit(alice, [tap, tap, bad]))).toBe('INVALID_ARGUMENT')
  expect(coins()).toBe(0)
})

test('a submission has at most 100 commands', () => {
  const { story, alice, tap, coins } = begin()
  expect(outcomeOf(story.submit(alice, Array(101).fill(tap)))).toBe('LIMIT_EXCEEDED')
  expect(outcomeOf(story.submit(alice, Array(100).fill(tap)))).toBe('accepted')
  expect(coins()).toBe(100)
})

test('a transfer has at most 100 outputs, a transaction at most 1000 events', () => {
  const { story, alice } = begin()
  // Each is one exercise, one archived input, and its outputs.
  const split = (input: string, outputCount: number): Command =>
    transferCommand({
      coinRules: story.the(coinRules),
      sender: alice.party,
      inputs: [input],
      outputs: Array(outputCount).fill({ receiver: alice.party, amount: 1n }),
    })
  const inputs = Array.from({ length: 11 }, () => story.tap(alice, '0.00000001'))
  expect(outcomeOf(story.submit(alice, split(inputs[0] as string, 101)))).toBe('LIMIT_EXCEEDED')
  const nine = inputs.slice(0, 9).map((input) => split(input, 100))
  const most = [...nine, split(inputs[9] as string, 79)]
  expect(outcomeOf(story.submit(alice, [...most, split(inputs[10] as string, 1)]))).toBe(
    'LIMIT_EXCEEDED',
  )
  const result = story.submit(alice, most)
  expect(result.kind === 'accepted' && result.update.events.length).toBe(1000)
})

test('software that does not know the interpretation version in force stops', () => {
  const { story, alice, tap } = begin()
  const { genesis, genesisHash } = story.network
  const delta = genesisDelta(genesis, genesisHash)
  const newer = delta.created.map((contract) =>
    contract.templateId.endsWith(':DsoRules')
      ? { ...contract, payload: { ...contract.payload, interpretationVersion: '3' } }
      : contract,
  )
  const view = new WorkingState()
  view.apply({ ...delta, created: newer })
  const bytes = story.ledger.sign({ keyPair: alice.keyPair, actAs: [alice.party], commands: [tap] })
  // What is not loaded does not exist here.
  view.load([{ kind: 'index', key: 'singleton:DsoRules', value: [] }])
  const { recordTime } = story.ledger.head()
  for (const decoded of [
    decodeEntry(bytes, genesisHash),
    { kind: 'ignored', reason: 'malformed' } as const,
  ])
    expect(() =>
      interpret({
        entry: { offset: 1, recordTime: recordTime + 1 },
        decoded,
        genesis,
        genesisHash,
        view,
      }),
    ).toThrow(UnknownInterpretationVersionError)
  expect(story.ledger.all(dsoRules)).toHaveLength(1)
})

test('one entry needs few round trips, though several commands miss cells', () => {
  const { story, alice } = begin()
  const request = (name: string) =>
    requestEntryCommand({
      ansRules: story.the(ansRules),
      user: alice.party,
      name: `${name}${NAME_SUFFIX}`,
      url: '',
      description: '',
    })
  const before = story.ledger.roundTrips
  const commands = Array.from({ length: 10 }, (_, index) => request(`n${index}`))
  expect(outcomeOf(story.submit(alice, commands))).toBe('accepted')
  expect(story.ledger.roundTrips - before).toBeLessThanOrEqual(6)
})
