import { fromUtf8 } from '@quorumscan/base'
import type { Command } from '@quorumscan/model'
import { DAY_MICROS } from '@quorumscan/testkit'
import { canonicalJson, NAME_SUFFIX } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { requestEntryCommand, tapCommand, transferCommand } from './commands.ts'
import { decodeEntry } from './entry.ts'
import { genesisDelta } from './genesis-state.ts'
import { encodeResult } from './history.ts'
import { interpret } from './interpret.ts'
import { ansRules } from './templates/ans-rules.ts'
import { coin } from './templates/coin.ts'
import { coinRules } from './templates/coin-rules.ts'
import { outcomeOf, Scenario } from './testing/index.ts'
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

it('the same bytes take effect once, however often they are appended', () => {
  const { story, alice, tap, coins } = begin()
  const bytes = story.ledger.sign({ keyPair: alice.keyPair, actAs: [alice.party], commands: [tap] })
  const outcomes = [1, 2, 3].map(() => outcomeOf(story.ledger.append(bytes).result))
  expect(outcomes).toEqual(['accepted', 'ignored: seen before', 'ignored: seen before'])
  expect(coins()).toBe(1)
})

it('rejected bytes are ignored when they are appended again', () => {
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

it('an entry is accepted until notAfter, which lies at most ten minutes ahead', () => {
  const { story, alice, tap } = begin()
  const submitAt = (notAfter: number) =>
    outcomeOf(story.submit(alice, tap, { notAfter: story.ledger.head().recordTime + 1 + notAfter }))
  expect(submitAt(-1)).toBe('ignored: not after')
  expect(submitAt(0)).toBe('accepted')
  expect(submitAt(600_000_000)).toBe('accepted')
  expect(submitAt(600_000_001)).toBe('ignored: not after')
})

it('a change id is blocked for its deduplication period of record time, in µs', () => {
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
  // Refusals do not block: the second acceptance, 1002 µs ago, still does.
  expect(submit(1002)).toBe('DUPLICATE_COMMAND')
  expect(submit(1002)).toBe('accepted')
})

it('a change id is blocked if it was accepted after the deduplication offset', () => {
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

it('a change id consists of user, set of actAs, command id and participant only', () => {
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

it('a duplicate names the acceptance that blocks it', () => {
  const { story, alice, tap } = begin()
  const same = { commandId: 'same', deduplication: { kind: 'duration', micros: 1000 } } as const
  story.submit(alice, tap, { ...same, submissionId: 'first' })
  const { offset } = story.ledger.head()
  const again = story.submit(alice, tap, { ...same, submissionId: 'second' })
  expect(again).toMatchObject({
    code: 'DUPLICATE_COMMAND',
    prior: { offset, submissionId: 'first' },
  })
  expect(fromUtf8(encodeResult(again))).toBe(canonicalJson(again))
})

it('a rejected command does not block its change id', () => {
  const { story, alice, tap } = begin()
  const bad = tapCommand({ coinRules: story.the(coinRules), receiver: alice.party, amount: 0n })
  const same = { commandId: 'same', deduplication: { kind: 'duration', micros: 1000 } } as const
  expect(outcomeOf(story.submit(alice, bad, same))).toBe('INVALID_ARGUMENT')
  expect(outcomeOf(story.submit(alice, tap, same))).toBe('accepted')
})

it('a period beyond the genesis maximum is refused, and records beyond it are forgotten', () => {
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

it('a transaction is atomic: if one command fails, none takes effect', () => {
  const { story, alice, tap, coins } = begin()
  const bad = tapCommand({ coinRules: story.the(coinRules), receiver: alice.party, amount: 0n })
  expect(outcomeOf(story.submit(alice, [tap, tap, bad]))).toBe('INVALID_ARGUMENT')
  expect(coins()).toBe(0)
})

it('a submission has at most 100 commands', () => {
  const { story, alice, tap, coins } = begin()
  expect(outcomeOf(story.submit(alice, Array(101).fill(tap)))).toBe('LIMIT_EXCEEDED')
  expect(outcomeOf(story.submit(alice, Array(100).fill(tap)))).toBe('accepted')
  expect(coins()).toBe(100)
})

/** The cells that interpretation requests before it ends or requests a contract. */
function cellsAskedFor(story: Scenario, bytes: Uint8Array): { kinds: string[]; result: string } {
  const { genesis, genesisHash } = story.network
  const view = new WorkingState()
  view.apply(genesisDelta(genesis, genesisHash))
  view.load([{ kind: 'index', key: 'singleton:DsoRules', value: [] }])
  const kinds: string[] = []
  for (;;) {
    const step = interpret({
      entry: { offset: 1, recordTime: story.ledger.head().recordTime + 1 },
      decoded: decodeEntry(bytes, genesisHash),
      genesis,
      genesisHash,
      view,
    })
    if (step.kind === 'done') return { kinds, result: outcomeOf(step.result) }
    if (step.kind === 'unknown version') throw new Error(`version ${step.version} is not known`)
    for (const key of step.keys) {
      kinds.push(key.kind)
      if (key.kind === 'contract') view.load([{ ...key, value: null }])
      else if (key.kind === 'index') view.load([{ ...key, value: [] }])
      else if (key.kind === 'party') view.load([{ ...key, value: false }])
      else view.load([{ ...key, value: null } as never])
    }
  }
}

const idOf = (index: number) => `00${String(index).padStart(64, '0')}`

it.each([
  ['a list of inputs', { inputs: Array.from({ length: 101 }, (_, index) => idOf(index)) }],
  ['a list of outputs', { outputs: Array(101).fill({ amount: 1n }) }],
])('%s that is too long is refused before a contract is loaded', (_, changes) => {
  const { story, alice } = begin()
  const [inputs, outputs] = [[idOf(0)], []]
  const merge = { coinRules: story.the(coinRules), sender: alice.party, inputs, outputs }
  const command = transferCommand({
    ...merge,
    ...changes,
    ...('outputs' in changes
      ? { outputs: changes.outputs.map((output) => ({ ...output, receiver: alice.party })) }
      : {}),
  })
  const { keyPair, party } = alice
  const bytes = story.ledger.sign({ keyPair, actAs: [party], commands: [command] })
  expect(cellsAskedFor(story, bytes)).toEqual({ kinds: ['seen'], result: 'LIMIT_EXCEEDED' })
})

it('a submission names at most 200 contracts, and more are refused before one is loaded', () => {
  const { story, alice } = begin()
  const naming = (count: number) =>
    // Each command names one contract, and they share the rules.
    [0, 1].map((half) =>
      transferCommand({
        coinRules: story.the(coinRules),
        sender: alice.party,
        inputs: Array.from({ length: half === 0 ? 100 : count - 101 }, (_, index) =>
          idOf(1000 * half + index),
        ),
        outputs: [],
      }),
    )
  const { keyPair, party } = alice
  const sign = (count: number) =>
    story.ledger.sign({ keyPair, actAs: [party], commands: naming(count) })
  expect(cellsAskedFor(story, sign(201))).toEqual({ kinds: ['seen'], result: 'LIMIT_EXCEEDED' })
  expect(outcomeOf(story.ledger.append(sign(201)).result)).toBe('LIMIT_EXCEEDED')
  expect(outcomeOf(story.ledger.append(sign(200)).result)).toBe('CONTRACT_NOT_FOUND')
})

it('unknown parties are refused before a contract is loaded', () => {
  const { story, alice, tap } = begin()
  const bytes = story.ledger.sign({ keyPair: alice.keyPair, actAs: [alice.party], commands: [tap] })
  // The ledger does not have the party.
  expect(cellsAskedFor(story, bytes)).toEqual({
    kinds: ['seen', 'change', 'party', 'index', 'index', 'index', 'change'],
    result: 'PERMISSION_DENIED',
  })
})

it('the context of a lock is bounded: a later entry that names the coin costs every replica all of it', () => {
  const { story, alice } = begin()
  const locked = (length: number) =>
    outcomeOf(
      story.submit(alice, {
        kind: 'exercise',
        template: '#quorumscan-coin:Coin.Rules:CoinRules',
        contractId: story.the(coinRules),
        choice: 'CoinRules_Transfer',
        argument: {
          sender: alice.party,
          inputs: [story.tap(alice, '1')],
          outputs: [
            {
              receiver: alice.party,
              amount: '1.0000000000',
              lock: {
                holders: [alice.party],
                expiresAt: '2100-01-01T00:00:00.000000Z',
                optContext: 'x'.repeat(length),
              },
            },
          ],
        },
      }),
    )
  expect(locked(1024)).toBe('accepted')
  expect(locked(1025)).toBe('LIMIT_EXCEEDED')
})

it('a transfer has at most 100 outputs, a transaction at most 1000 events', () => {
  const { story, alice } = begin()
  // Each command has one exercise event, one archived input, and its outputs.
  const split = (input: string, outputCount: number): Command =>
    transferCommand({
      coinRules: story.the(coinRules),
      sender: alice.party,
      inputs: [input],
      outputs: Array(outputCount).fill({ receiver: alice.party, amount: 1n }),
    })
  const inputs = Array.from({ length: 10 }, () => story.tap(alice, '0.00000001'))
  expect(outcomeOf(story.submit(alice, split(inputs[0] as string, 101)))).toBe('LIMIT_EXCEEDED')
  const nine = inputs.slice(0, 9).map((input) => split(input, 100))
  // The last one has change, too.
  const submit = (outputCount: number) =>
    story.submit(alice, [...nine, split(inputs[9] as string, outputCount)])
  expect(outcomeOf(submit(80))).toBe('LIMIT_EXCEEDED')
  const result = submit(79)
  expect(result.kind === 'accepted' && result.update.events.length).toBe(1000)
})

it('an entry needs few reads of the state, even if several commands lack cells', () => {
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
