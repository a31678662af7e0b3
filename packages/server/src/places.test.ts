import { expect, it } from 'vitest'
import { type Guest, type PlaceLimits, Places } from './places.ts'

const roomy: PlaceLimits = { max: 100, perClientMax: 100, perNetworkMax: 100, areInUse: false }

/** Takes places, and says who had to leave. */
function house(limits: Partial<PlaceLimits>) {
  const places = new Places({ ...roomy, ...limits })
  const gone: string[] = []
  const busy = new Set<string>()
  const take = (name: string, address: string) => {
    const guest: Guest = { isIdle: () => !busy.has(name), leave: () => gone.push(name) }
    return places.take(address, guest)
  }
  return { take, gone, busy }
}

it('the longest idle guest of the largest holder makes room for a newcomer', () => {
  const { take, gone } = house({ max: 4 })
  take('b1', '10.0.0.2')
  const used = take('a1', '10.0.0.1')
  take('a2', '10.0.0.1')
  take('a3', '10.0.0.1')
  used?.touch()
  expect(take('c1', '10.0.0.3')).not.toBeNull()
  expect(gone).toEqual(['a2'])
})

it('the busy stay, and where all are busy the newcomer gets no place', () => {
  const { take, gone, busy } = house({ max: 3 })
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

it('a client has its share and no more, out of which its newcomers are served', () => {
  const { take, gone, busy } = house({ perClientMax: 2 })
  for (const name of ['a1', 'a2', 'a3']) take(name, '10.0.0.1')
  take('b1', '10.0.0.2')
  expect(gone).toEqual(['a1'])
  for (const name of ['a2', 'a3']) busy.add(name)
  expect(take('a4', '10.0.0.1')).toBeNull()
})

it('clients of one IPv6 network share what it may have', () => {
  const { take, gone } = house({ perNetworkMax: 3 })
  for (const subnet of [1, 2, 2, 3]) take(`${subnet}`, `2001:db8:0:${subnet}::1`)
  take('other', '2001:db8:1:1::1')
  expect(gone).toEqual(['2'])
})

it('what is in use goes only for somebody who holds fewer', () => {
  const { take, gone } = house({ max: 5, perClientMax: 3, areInUse: true })
  for (const name of ['a1', 'a2', 'a3']) take(name, '10.0.0.1')
  expect(take('a4', '10.0.0.1')).toBeNull()
  take('b1', '10.0.0.2')
  take('b2', '10.0.0.2')
  expect(take('b3', '10.0.0.2')).toBeNull()
  expect(take('c1', '10.0.0.3')).not.toBeNull()
  expect(gone).toEqual(['a1'])
})

it('whoever leaves gives its place to the next, once', () => {
  const { take, gone } = house({ max: 1 })
  const place = take('a1', '10.0.0.1')
  place?.release()
  place?.release()
  take('b1', '10.0.0.2')
  place?.touch()
  expect(gone).toEqual([])
  take('c1', '10.0.0.3')
  expect(gone).toEqual(['b1'])
})

it('guests of a proxy count, but have no share of their own, and make room for nobody', () => {
  const { take, gone } = house({
    ...{ max: 4, perClientMax: 1, perNetworkMax: 1 },
    isProxy: (address) => address === '10.0.0.1',
  })
  const places = ['p1', 'p2', 'p3'].map((name) => take(name, '10.0.0.1'))
  take('a1', '10.0.0.2')
  expect(take('p4', '10.0.0.1')).not.toBeNull()
  expect(gone).toEqual(['a1'])
  expect([take('a2', '10.0.0.2'), take('p5', '10.0.0.1')]).toEqual([null, null])
  for (const place of [places[0], places[0]]) place?.release()
  expect([take('a3', '10.0.0.2') === null, take('a4', '10.0.0.3') === null]).toEqual([false, false])
  expect(gone).toEqual(['a1', 'a3'])
})
