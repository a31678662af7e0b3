import { expect, it } from 'vitest'
import { createSharedLookups } from './shared-lookups.ts'

/** Requests, and delays of a clock, that end when the test says so. */
function createHarness() {
  const requests: { readonly names: readonly string[]; answer(): void }[] = []
  const delays: (() => void)[] = []
  const shared = createSharedLookups<null, string>(
    (lookups) =>
      new Promise((resolve) => {
        const names = lookups.map((lookup) => ('name' in lookup ? lookup.name : ''))
        requests.push({ names, answer: () => resolve(names) })
      }),
    { delay: () => new Promise((resolve) => delays.push(resolve)) },
  )
  const lookup = (name: string) =>
    shared.lookup({ lookups: [{ name }], options: null, key: '', signal: undefined })
  return { requests, delays, lookup }
}

const turn = () => new Promise(setImmediate)

it('lets a lone lookup go in its own turn, without a timer', async () => {
  const { requests, delays, lookup } = createHarness()
  const answers = [lookup('a'), lookup('b')]
  await turn()
  expect(requests.map(({ names }) => names)).toEqual([['a', 'b']])
  requests[0]?.answer()
  expect(await Promise.all(answers)).toEqual([['a'], ['b']])
  expect(delays).toEqual([])
})

it('puts a lookup that comes beside a request together with those that its answer brings', async () => {
  const { requests, delays, lookup } = createHarness()
  const first = lookup('a')
  await turn()
  const beside = lookup('b')
  await turn()
  requests[0]?.answer()
  await first
  const next = lookup('c')
  await turn()
  expect(requests).toHaveLength(1)
  delays[0]?.()
  await turn()
  expect(requests[1]?.names).toEqual(['b', 'c'])
  requests[1]?.answer()
  expect(await Promise.all([beside, next])).toEqual([['b'], ['c']])
})

it('does not wait longer than that for a request that is not answered', async () => {
  const { requests, delays, lookup } = createHarness()
  void lookup('a')
  await turn()
  const beside = lookup('b')
  await turn()
  delays[0]?.()
  await turn()
  requests[1]?.answer()
  expect(await beside).toEqual(['b'])
})
