import { expect, it } from 'vitest'
import { breaksOf } from './words.ts'

it('breaks the engine of a member alone, and its links', () => {
  const idsOf = (isMember: boolean) =>
    breaksOf('sv-2', isMember).flatMap((group) => group.faults.map(({ id }) => id))
  expect(idsOf(true).filter((id) => !idsOf(false).includes(id))).toEqual(['engines', 'cometbft'])
})

it('what can be broken has an id of its own', () => {
  const faults = breaksOf('sv-2', true).flatMap((group) => group.faults)
  expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length)
  expect(faults.map(({ fault }) => fault.node)).toEqual(faults.map(() => 'sv-2'))
})
