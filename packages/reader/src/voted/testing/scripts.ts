/** The events of the state machine, in any order. */
import fc from 'fast-check'

/** How a request ends. Only liars send the lies; the rest may happen at every node. */
export const LIES = ['lie', 'history', 'offset', 'garbage', 'nonsense', 'high'] as const
const HITCHES = ['behind', 'behind', 'lagging', 'pruned', 'busy', 'missing', 'lost'] as const
const way = fc.constantFrom('true', 'true', 'true', 'true', ...HITCHES, ...LIES)
export type Way = typeof way extends fc.Arbitrary<infer Value> ? Value : never

const rarely = fc.integer({ min: 0, max: 7 }).map((draw) => draw === 0)
const kind = <const Kind extends string>(value: Kind) => fc.constant(value)

const ask = fc.record({
  kind: kind('ask'),
  names: fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }),
  votes: fc.nat(12),
  /** How far the lowest offset of the request is ahead of the newest one. */
  ahead: fc.constantFrom(null, null, null, 0, 2),
  isPage: rarely,
})
const land = fc.record({ kind: kind('land'), pick: fc.nat(), way })
const pass = fc.record({ kind: kind('pass'), ms: fc.constantFrom(1, 5, 30, 200, 700, 2600) })
const plain = fc.record({ kind: fc.constantFrom('append', 'compare', 'compare') })
const picked = fc.record({ kind: fc.constantFrom('cancel', 'move'), pick: fc.nat() })

const command = fc.oneof(
  { weight: 3, arbitrary: ask },
  { weight: 20, arbitrary: land },
  { weight: 4, arbitrary: pass },
  { weight: 6, arbitrary: plain },
  { weight: 2, arbitrary: picked },
)
export type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never

export const script = fc.record({
  nodeCount: fc.integer({ min: 1, max: 7 }),
  /** The first of these are liars, as many as there may be. */
  liars: fc.uniqueArray(fc.nat(6), { maxLength: 7 }),
  commands: fc.array(command, { maxLength: 200, size: 'max' }),
})
