import { expect, it } from 'vitest'
import { allocatePartyCommand, confirmSetProtocolVersionCommand } from './commands.ts'
import { decodeEntry } from './entry.ts'
import { genesisDelta } from './genesis-state.ts'
import { interpret } from './interpret.ts'
import { NEWEST_RULES } from './rules.ts'
import { confirmation } from './templates/confirmation.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { type Actor, outcomeOf, resultOf, Scenario } from './testing/index.ts'
import { WorkingState } from './working-state.ts'

const CURRENT = NEWEST_RULES.version
const NEXT = CURRENT + 1

type Vote = { readonly version?: number; readonly notBefore?: number | null }

function vote(story: Scenario, index: number, wanted: Vote = {}, current = story.the(dsoRules)) {
  const sv = story.svs[index] as Actor
  const { version = NEXT, notBefore = null } = wanted
  return story.submit(
    sv,
    confirmSetProtocolVersionCommand({
      dsoRules: current,
      confirmer: sv.party,
      version,
      notBefore,
    }),
  )
}

const inForce = (story: Scenario) => {
  const [rules] = story.ledger.all(dsoRules)
  if (rules === undefined) throw new Error('there are rules')
  const { protocolVersion, nextVersion } = rules.payload
  return { protocolVersion, nextVersion }
}

/** The kind of result of a next entry with this record time. */
function kindAt(story: Scenario, recordTime: number, bytes: Uint8Array): string {
  const { genesis, genesisHash } = story.network
  const entry = { offset: story.ledger.head().offset + 1, recordTime }
  const view = new WorkingState()
  view.load([
    { kind: 'index', key: 'singleton:DsoRules', value: [story.the(dsoRules)] },
    ...story.ledger.contracts().map((value) => ({
      kind: 'contract' as const,
      id: value.contractId,
      value,
    })),
  ])
  const decoded = decodeEntry(bytes, genesisHash)
  return interpret({ entry, decoded, genesis, genesisHash, view }).kind
}

it('the q-th vote for a version puts it in force from the next offset on, for every kind of entry', () => {
  const story = new Scenario()
  vote(story, 0)
  vote(story, 1)
  expect(inForce(story)).toEqual({ protocolVersion: CURRENT, nextVersion: null })
  expect(resultOf(vote(story, 2))['outcome']).toMatchObject({ tag: 'ProtocolVersionSet' })
  const { recordTime } = story.ledger.head()
  expect(inForce(story)).toEqual({
    protocolVersion: CURRENT,
    nextVersion: { version: NEXT, notBefore: recordTime },
  })
  expect(story.ledger.all(confirmation)).toEqual([])
  const { keyPair } = story.svs[0] as Actor
  const party = allocatePartyCommand({ hint: 'late' })
  const submission = story.ledger.sign({ keyPair, commands: [party] })
  for (const bytes of [new Uint8Array(), new Uint8Array([1]), submission])
    expect(kindAt(story, recordTime + 1, bytes)).toBe('unknown version')
})

it('a version voted for a later time is in force from the first entry at that record time', () => {
  const story = new Scenario()
  const notBefore = story.ledger.head().recordTime + 60_000_000
  for (const index of [0, 1, 2]) vote(story, index, { notBefore })
  expect(inForce(story).nextVersion).toEqual({ version: NEXT, notBefore })
  expect(kindAt(story, notBefore - 1, new Uint8Array())).toBe('done')
  expect(kindAt(story, notBefore, new Uint8Array())).toBe('unknown version')
  // Until that time the old rules apply.
  story.register(story.actor('alice'), 'alice.unverified.ns')
})

it('votes for different versions or times do not add up; only the last of a member counts', () => {
  const story = new Scenario()
  vote(story, 0, { version: NEXT + 1 })
  vote(story, 1, { notBefore: 1 })
  vote(story, 2)
  expect(story.ledger.all(confirmation)).toHaveLength(3)
  vote(story, 0)
  expect(inForce(story).nextVersion).toBeNull()
  vote(story, 1)
  expect(inForce(story).nextVersion).toMatchObject({ version: NEXT })
})

it('votes for the current version cancel the next one, and invalidate older votes', () => {
  const story = new Scenario()
  const notBefore = story.ledger.head().recordTime + 60_000_000
  const before = story.the(dsoRules)
  for (const index of [0, 1, 2]) vote(story, index, { notBefore })
  expect(outcomeOf(vote(story, 3, { notBefore }, before))).toBe('CONTRACT_NOT_FOUND')
  for (const index of [0, 1, 2]) vote(story, index, { version: CURRENT })
  expect(inForce(story)).toEqual({ protocolVersion: CURRENT, nextVersion: null })
  expect(kindAt(story, notBefore, new Uint8Array())).toBe('done')
})

it('votes for an earlier version are refused', () => {
  const story = new Scenario()
  expect(outcomeOf(vote(story, 0, { version: CURRENT - 1 }))).toBe('INVALID_ARGUMENT')
  expect(story.ledger.all(confirmation)).toEqual([])
})

it('a network cannot begin with a version that this software does not know', () => {
  const { genesis, genesisHash } = new Scenario().network
  expect(() => genesisDelta({ ...genesis, protocolVersion: NEXT }, genesisHash)).toThrow(
    expect.objectContaining({
      code: 'SOFTWARE_OUTDATED',
      message: expect.stringContaining(`Install a release that knows version ${NEXT}`),
    }),
  )
})
