import { sha256, utf8 } from '@quorumscan/base'
import { keyOf } from '@quorumscan/verifier/state-tree'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLeafStore, nameKey, partyKey } from './leaf-store.ts'

const hash = fc.stringMatching(/^[0-9a-f]{64}$/)
const entry = fc.record({
  name: fc.stringMatching(/^[a-z0-9_.-]{1,60}$/),
  contractId: fc.option(hash.map((digits) => `00${digits}`)),
  user: fc
    .tuple(fc.stringMatching(/^[A-Za-z0-9_-]{1,185}$/), hash)
    .map(([hint, participant]) => `${hint}::1220${participant}`),
  expiresAt: fc.option(fc.nat({ max: Number.MAX_SAFE_INTEGER })),
  body: fc.string().map(utf8),
})
type Entry = typeof entry extends fc.Arbitrary<infer Value> ? Value : never

it('returns the stored entries while others are added and freed', () => {
  const steps = fc.array(fc.tuple(entry, fc.option(fc.nat())))
  fc.assert(
    fc.property(steps, (list) => {
      const store = createLeafStore()
      const present = new Map<readonly number[], Entry>()
      for (const [added, removed] of list) {
        present.set(store.putEntry(added), added)
        const gone = removed === null ? undefined : [...present.keys()][removed % present.size]
        for (const id of gone ?? []) store.onFreed(id)
        if (gone !== undefined) present.delete(gone)
        for (const [ids, { name, contractId, user, expiresAt, body }] of present) {
          const facts = { expiresAt, valueHash: sha256(body) }
          const keys = [nameKey(name, contractId)]
          if (contractId !== null) keys.push(partyKey(user, name, contractId))
          const components = [
            ['n', name, contractId ?? ''],
            ['p', user, name, contractId ?? ''],
          ]
          expect(keys).toEqual(
            components.slice(0, keys.length).map((each) => Buffer.from(keyOf(each))),
          )
          const leaves = keys.map((key) => ({ ...facts, key }))
          expect(ids.map(store.leafAt)).toEqual(leaves)
          expect(ids.map(store.keyAt)).toEqual(leaves.map(({ key }) => key))
        }
      }
    }),
  )
})

it('keeps the value of a leaf of a constant key until it is freed', () => {
  const store = createLeafStore()
  const [first, second] = ['one', 'two'].map((value) => store.putValue(utf8('m\0'), value)) as [
    number,
    number,
  ]
  store.onFreed(first)
  expect(store.leafAt(second)).toEqual({
    key: utf8('m\0'),
    expiresAt: null,
    valueHash: sha256(utf8('two')),
    value: 'two',
  })
  expect(store.leafAt(first)).toBeUndefined()
})
