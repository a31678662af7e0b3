import { expect, it } from 'vitest'
import { isOwnRecent, type OwnAge } from './own-age.ts'

const NOW = 1_700_000_000_000_000
const ownIn = (state: ReturnType<OwnAge['ledger']['state']>) => ({
  ledger: { state: () => state },
  clock: { nowMicros: () => NOW },
})

it.each([
  ['live', 60, true],
  ['live', 61, false],
  ['catching-up', 60, true],
  ['clock-behind', 0, false],
  // The newest entry that it applies is 10 s ahead of its clock.
  ['clock-behind', -10, false],
] as const)(
  'the state of a replica that is %s, and %i s old by its clock',
  (state, ageS, isRecent) => {
    expect(isOwnRecent(ownIn(state), NOW - ageS * 1_000_000, 60_000)).toBe(isRecent)
  },
)
