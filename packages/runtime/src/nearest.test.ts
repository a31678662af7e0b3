import { expect, it } from 'vitest'
import { didYouMean, nearestOf } from './nearest.ts'

const names = ['QS_PORT', 'QS_HOST', 'QS_RATE_LIMIT', 'QS_TLS_CERT']

it.each([
  ['QS_PROT', 'QS_PORT'],
  ['QS_PORTS', 'QS_PORT'],
  ['QSPORT', 'QS_PORT'],
  ['QS_RATELIMITS', 'QS_RATE_LIMIT'],
  ['QS_TLS', 'QS_TLS_CERT'],
  ['QS_', undefined],
  ['QS_WHATEVER', undefined],
  ['PATH', undefined],
])('the nearest name of %s is %s', (word, name) => {
  expect(nearestOf(word, names)).toBe(name)
})

it('suggests nothing if no name is similar', () => {
  expect(didYouMean('QS_PROT', names)).toBe(': did you mean QS_PORT?')
  expect(didYouMean('QS_WHATEVER', names)).toBe('')
  expect(didYouMean('QS_PORT', [])).toBe('')
})
