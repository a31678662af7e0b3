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

it('of names that are equally near, the first is the nearest', () => {
  expect(nearestOf('ab', ['abc', 'abd', 'ab'])).toBe('ab')
  expect(nearestOf('abx', ['abc', 'abd'])).toBe('abc')
})

it('a long word is compared with no name, as long as none is so long', () => {
  const compared: string[] = []
  const editsOf = (word: string, name: string) => {
    compared.push(name)
    return word === name ? 0 : 99
  }
  for (let length = 17; length < 2000; length++)
    expect(nearestOf('Q'.repeat(length), names, { editsOf })).toBeUndefined()
  expect(compared).toEqual([])
  nearestOf('Q'.repeat(16), names, { editsOf })
  expect(compared).toEqual(['QS_RATE_LIMIT'])
})
