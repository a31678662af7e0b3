import { expect, it } from 'vitest'
import { describeLag, exitOfLookup } from './resolve.ts'

it.each([
  ['verified', 1, 0],
  ['trusted-absent', 1, 0],
  ['disputed', 3, 1],
  ['lagging', 4, 3],
  ['insufficient', 1, 3],
  ['insufficient', 0, 4],
])('the outcome %s with %i answering nodes has the exit status %i', (kind, heard, code) => {
  expect(exitOfLookup(kind, heard)).toBe(code)
})

it('says how old the newest answer is, or which offset is not reached', () => {
  const lag = { wantedOffset: 0, headOffset: 305, ageMs: 64_200 }
  expect(describeLag({ ...lag, reason: 'stale' })).toContain(
    'the newest answer is 65 s old; 60 s are allowed',
  )
  expect(describeLag({ ...lag, reason: 'floor', wantedOffset: 310 })).toContain(
    'offset 310 is wanted, and the nodes are at 305',
  )
})
