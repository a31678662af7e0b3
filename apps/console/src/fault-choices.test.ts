import { expect, it } from 'vitest'
import { faultChoicesOf } from './fault-choices.ts'

it('offers faults of an engine and its links for ordering members only', () => {
  const idsOf = (isOrderingMember: boolean) =>
    faultChoicesOf('sv-2', isOrderingMember).flatMap(({ faults }) => faults.map(({ id }) => id))
  expect(idsOf(true).filter((id) => !idsOf(false).includes(id))).toEqual(['engines', 'cometbft'])
})

it('offers a lie and a flood of outsiders', () => {
  const kinds = faultChoicesOf('sv-2', false).flatMap(({ faults }) =>
    faults.map(({ fault }) => fault.kind),
  )
  expect(kinds).toEqual(expect.arrayContaining(['lie', 'flood']))
})

it('each fault has a unique id', () => {
  const faults = faultChoicesOf('sv-2', true).flatMap((group) => group.faults)
  expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length)
  expect(faults.map(({ fault }) => fault.node)).toEqual(faults.map(() => 'sv-2'))
})
