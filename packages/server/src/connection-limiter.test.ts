import { expect, it } from 'vitest'
import { ConnectionLimiter, type ConnectionLimits } from './connection-limiter.ts'

const roomy: ConnectionLimits = {
  pool: 'connections',
  max: 100,
  perClientMax: 100,
  perNetworkMax: 100,
  evictsOnlyFromLargerClients: false,
}

/** A limiter, and the names of the members that it evicted. */
function create(limits: Partial<ConnectionLimits>) {
  const limiter = new ConnectionLimiter({ ...roomy, ...limits })
  const gone: string[] = []
  const busy = new Set<string>()
  const take = (name: string, address: string, isProxy = false) =>
    limiter.acquire(
      address,
      { isIdle: () => !busy.has(name), evict: () => gone.push(name) },
      { isProxy },
    )
  return { take, gone, busy }
}

it('the longest idle member of the largest client makes room for another client', () => {
  const { take, gone } = create({ max: 4 })
  take('b1', '10.0.0.2')
  const used = take('a1', '10.0.0.1')
  take('a2', '10.0.0.1')
  take('a3', '10.0.0.1')
  used?.touch()
  expect(take('c1', '10.0.0.3')).not.toBeNull()
  expect(gone).toEqual(['a2'])
})

it('busy members stay, and where all are busy a new one gets no slot', () => {
  const { take, gone, busy } = create({ max: 3 })
  for (const name of ['a1', 'a2']) take(name, '10.0.0.1')
  take('b1', '10.0.0.2')
  busy.add('a1')
  take('c1', '10.0.0.3')
  expect(gone).toEqual(['a2'])
  for (const name of ['b1', 'c1']) busy.add(name)
  expect(take('d1', '10.0.0.4')).toBeNull()
  busy.delete('b1')
  expect(take('d1', '10.0.0.4')).not.toBeNull()
  expect(gone).toEqual(['a2', 'b1'])
})

it('a new connection of a client at its limit takes the slot of one of its own', () => {
  const { take, gone, busy } = create({ perClientMax: 2 })
  for (const name of ['a1', 'a2', 'a3']) take(name, '10.0.0.1')
  take('b1', '10.0.0.2')
  expect(gone).toEqual(['a1'])
  for (const name of ['a2', 'a3']) busy.add(name)
  expect(take('a4', '10.0.0.1')).toBeNull()
})

it('clients of one IPv6 network share its limit', () => {
  const { take, gone } = create({ perNetworkMax: 3 })
  for (const subnet of [1, 2, 2, 3]) take(`${subnet}`, `2001:db8:0:${subnet}::1`)
  take('other', '2001:db8:1:1::1')
  expect(gone).toEqual(['2'])
})

it('a member that is in use is evicted only for a client that has fewer', () => {
  const { take, gone } = create({ max: 5, perClientMax: 3, evictsOnlyFromLargerClients: true })
  for (const name of ['a1', 'a2', 'a3']) take(name, '10.0.0.1')
  expect(take('a4', '10.0.0.1')).toBeNull()
  take('b1', '10.0.0.2')
  take('b2', '10.0.0.2')
  expect(take('b3', '10.0.0.2')).toBeNull()
  expect(take('c1', '10.0.0.3')).not.toBeNull()
  expect(gone).toEqual(['a1'])
})

it('a slot is released once', () => {
  const { take, gone } = create({ max: 1 })
  const slot = take('a1', '10.0.0.1')
  slot?.release()
  slot?.release()
  take('b1', '10.0.0.2')
  slot?.touch()
  expect(gone).toEqual([])
  take('c1', '10.0.0.3')
  expect(gone).toEqual(['b1'])
})

it('connections of a proxy count, have no limit of their own, and are not evicted', () => {
  const { take, gone } = create({ max: 4, perClientMax: 1, perNetworkMax: 1 })
  const slots = ['p1', 'p2', 'p3'].map((name) => take(name, '10.0.0.1', true))
  take('a1', '10.0.0.2')
  expect(take('p4', '10.0.0.1', true)).not.toBeNull()
  expect(gone).toEqual(['a1'])
  expect([take('a2', '10.0.0.2'), take('p5', '10.0.0.1', true)]).toEqual([null, null])
  for (const slot of [slots[0], slots[0]]) slot?.release()
  expect([take('a3', '10.0.0.2') === null, take('a4', '10.0.0.3') === null]).toEqual([false, false])
  expect(gone).toEqual(['a1', 'a3'])
})

it('a greedy client keeps none of ten modest ones out, whoever came first', () => {
  for (const evictsOnlyFromLargerClients of [false, true]) {
    const { take, gone } = create({ max: 40, evictsOnlyFromLargerClients })
    for (let count = 0; count < 40; count++) take('greedy', '10.0.0.1')
    for (let round = 0; round < 2; round++)
      for (let index = 0; index < 10; index++) {
        take('greedy', '10.0.0.1')
        expect(take('modest', `10.0.1.${index}`)).not.toBeNull()
      }
    expect(gone).not.toContain('modest')
  }
})

it.each([
  ['all', { max: 5 }, (index: number) => `10.0.0.${index}`],
  ['a client', { perClientMax: 5 }, () => '10.0.0.1'],
  // Each is another /64 of one /48.
  ['a network', { perNetworkMax: 5 }, (index: number) => `2001:db8:1:${index}::1`],
])(
  'has as many slots of %s as its limit says, and makes room for one more',
  (_, limits, address) => {
    const { take, gone } = create(limits)
    for (let index = 0; index < 5; index++) {
      expect(take(`${index}`, address(index))).not.toBeNull()
      expect(gone).toEqual([])
    }
    expect(take('one more', address(5))).not.toBeNull()
    expect(gone).toHaveLength(1)
  },
)
