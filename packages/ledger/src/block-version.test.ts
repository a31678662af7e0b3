import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BLOCK_RULES_DELAY_MICROS as DELAY } from './limits.ts'
import {
  blockVersionAt,
  type DsoRulesPayload,
  protocolVersionAt,
  versionRefusal,
  versionsAfter,
} from './templates/dso-rules.ts'

type Versions = Pick<DsoRulesPayload, 'protocolVersion' | 'nextVersion'>
type Era = { readonly since: number; readonly rules: Versions }

const START = 1_700_000_000_000_000
const FIRST: Era = { since: START, rules: { protocolVersion: 3, nextVersion: null } }
const minutes = (most: number) =>
  fc.integer({ min: 0, max: most * 4 }).map((quarters) => quarters * 15_000_000)

/** The rules over time, after votes of q members that the ledger permits. */
const histories = fc
  .array(
    fc.record({
      after: minutes(20),
      step: fc.integer({ min: 0, max: 2 }),
      notBefore: fc.option(minutes(40).map((ahead) => ahead - DELAY)),
    }),
    { maxLength: 12 },
  )
  .map((votes) => {
    const eras = [FIRST]
    let now = START
    for (const { after, step, notBefore } of votes) {
      now += after + 1
      const { rules } = eras.at(-1) ?? FIRST
      const version = protocolVersionAt(rules, now) + step
      if (versionRefusal(rules, version, now) !== null) continue
      const vote = { version, notBefore: notBefore === null ? null : now + notBefore }
      eras.push({ since: now, rules: versionsAfter(rules, vote, now) })
    }
    return eras
  })

/** The rules of a replica whose newest entry has this time. */
const rulesAt = (eras: readonly Era[], head: number): Versions =>
  (eras.findLast(({ since }) => since <= head) ?? FIRST).rules

it('members with replicas that lag by up to the delay use the same block version', () => {
  fc.assert(
    fc.property(histories, minutes(300), minutes(10), (eras, at, lag) => {
      const tip = START + at
      // The version of entries at that time.
      const expected = protocolVersionAt(rulesAt(eras, tip - DELAY), tip - DELAY)
      expect(blockVersionAt(rulesAt(eras, tip - lag), tip)).toBe(expected)
    }),
    { numRuns: 2000 },
  )
})

it('no version begins before its vote, or replaces one that began too recently', () => {
  const voted = versionsAfter(FIRST.rules, { version: 4, notBefore: 1 }, START)
  expect(voted).toEqual({ protocolVersion: 3, nextVersion: { version: 4, notBefore: START } })
  expect(versionRefusal(voted, 5, START + DELAY - 1)).toContain('too new')
  expect(versionRefusal(voted, 5, START + DELAY)).toBeNull()
  // A version that is not in force yet may be replaced or cancelled.
  const coming = versionsAfter(FIRST.rules, { version: 4, notBefore: START + DELAY }, START)
  expect(versionRefusal(coming, 5, START + 1)).toBeNull()
  expect(versionsAfter(coming, { version: 3, notBefore: null }, START + 1)).toEqual(FIRST.rules)
})
