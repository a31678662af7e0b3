import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Follower,
  type GroupLink,
  type LogPart,
  planRepair,
  type RepairInput,
  type RepairPlan,
} from './repair-plan.ts'

const genesisHash = 'g0'
const F = 1

/** The true history: groups of two offsets each. */
const chain: readonly GroupLink[] = Array.from({ length: 12 }, (_, index) => ({
  firstOffset: 2 * index + 1,
  lastOffset: 2 * index + 2,
  previousHash: `g${index}`,
  hash: `g${index + 1}`,
}))
const END = 24

type Kind = LogPart['kind'] | 'missing'

/** The log as found: its groups with the given kinds, neighbors of one kind as one part. */
function partsOf(kinds: readonly Kind[]): LogPart[] {
  const parts: LogPart[] = []
  const end = kinds.findLastIndex((kind) => kind !== 'missing') + 1
  for (const [index, group] of chain.slice(0, end).entries()) {
    const { firstOffset: from, lastOffset: to, previousHash, hash } = group
    const kind = kinds[index] === 'missing' ? 'damaged' : (kinds[index] as LogPart['kind'])
    const last = parts.at(-1)
    if (last?.kind === kind)
      parts[parts.length - 1] = last.kind === 'damaged' ? { ...last, to } : { ...last, to, hash }
    else if (kind === 'damaged') parts.push({ kind, from, to })
    else parts.push({ kind, from, to, previousHash, hash, recordTime: 7 })
  }
  return parts
}

function follower(name: string, head: number | null, storedFrom = 1): Follower {
  const groups = chain.filter(
    ({ firstOffset }) => firstOffset >= storedFrom && firstOffset <= (head ?? 0),
  )
  return { name, head, groups, hasOtherHistory: false }
}

function planOf(input: Partial<RepairInput> & { readonly kinds?: readonly Kind[] }): RepairPlan {
  const { kinds = chain.map(() => 'whole' as const), ...rest } = input
  return planRepair({
    start: { offset: 0, hash: genesisHash },
    parts: partsOf(kinds),
    nodes: ['sv-1', 'sv-2', 'sv-3', 'sv-4'].map((name) => follower(name, END)),
    others: [follower('validator', END)],
    f: F,
    ...rest,
  })
}

const withKind = (kind: Kind, ...indices: readonly number[]): Kind[] =>
  chain.map((_, index) => (indices.includes(index) ? kind : 'whole'))
const nodesAt = (...heads: readonly (number | null)[]) =>
  heads.map((head, index) => follower(`sv-${index + 1}`, head))

describe('planning the repair of a log', () => {
  it('changes nothing in an undamaged log', () => {
    const steps = [{ kind: 'copy', from: 1, to: END }]
    expect(planOf({})).toEqual({ kind: 'whole', steps, refilled: [], cut: null, end: END })
  })

  it('refills damaged or missing groups with those that f + 1 nodes stored', () => {
    const plan = planOf({ kinds: withKind('damaged', 3, 4, 8), nodes: nodesAt(END, END, 0, null) })
    expect(plan).toMatchObject({
      kind: 'repair',
      refilled: [
        { from: 7, to: 10 },
        { from: 17, to: 18 },
      ],
      cut: null,
      end: END,
      steps: [
        { kind: 'copy', from: 1, to: 6 },
        { kind: 'refill', group: { hash: 'g4' } },
        { kind: 'refill', group: { hash: 'g5' } },
        { kind: 'copy', from: 11, to: 16 },
        { kind: 'refill', group: { hash: 'g9' } },
        { kind: 'copy', from: 19, to: 24 },
      ],
    })
  })

  it('refuses groups that only one node stored, and reports the oldest stored offset', () => {
    const nodes = [follower('sv-1', END), ...[2, 3, 4].map((n) => follower(`sv-${n}`, END, 11))]
    expect(planOf({ kinds: withKind('damaged', 3), nodes })).toEqual({
      kind: 'refused',
      refusal: { kind: 'not-stored', from: 7, to: 8, needed: 2, by: ['sv-1'], storedFrom: 1 },
    })
  })

  it('refuses while more than f nodes do not answer, even where nothing seems to be damaged', () => {
    expect(planOf({ nodes: nodesAt(END, null, END, null) })).toEqual({
      kind: 'refused',
      refusal: { kind: 'too-few', silent: ['sv-2', 'sv-4'], needed: 3 },
    })
  })

  it('restores a lost end, and a whole log from nothing', () => {
    expect(planOf({ kinds: withKind('missing', 10, 11) })).toMatchObject({
      refilled: [{ from: 21, to: 24 }],
      cut: null,
    })
    expect(planOf({ parts: [] })).toMatchObject({ refilled: [{ from: 1, to: 24 }], end: END })
  })

  it('refills a damaged last group that enough nodes applied, and cuts nothing off', () => {
    const plan = planOf({ kinds: withKind('damaged', 11) })
    expect(plan).toMatchObject({ refilled: [{ from: 23, to: 24 }], cut: null })
  })

  it('refuses to join stored groups to another group than they name', () => {
    const [first, ...rest] = partsOf(withKind('damaged', 3))
    const parts = [{ ...first, hash: 'other' } as LogPart, ...rest]
    expect(planOf({ parts })).toMatchObject({ refusal: { kind: 'not-stored', from: 7, to: 8 } })
  })

  it('cuts off a damaged end that no node applied, and no more', () => {
    const nodes = nodesAt(20, 18, 20, null)
    const others = [follower('validator', 20)]
    expect(planOf({ kinds: withKind('damaged', 9, 10, 11), nodes, others })).toMatchObject({
      refilled: [{ from: 19, to: 20 }],
      cut: { from: 21, to: 24, recordTime: null },
      end: 20,
    })
  })

  it('cuts off an end that lies ahead of the clock unless a follower applied a part of it', () => {
    const kinds = withKind('ahead', 10, 11)
    const nodes = nodesAt(20, 20, 20, 20)
    const others = [follower('validator', 20)]
    expect(planOf({ kinds, nodes, others })).toMatchObject({
      refilled: [],
      cut: { from: 21, to: 24, recordTime: 7 },
      end: 20,
    })
    expect(planOf({ kinds, nodes })).toMatchObject({ kind: 'whole', end: END })
    expect(planOf({ kinds, nodes: nodesAt(20, 22, 20, 20), others })).toMatchObject({
      kind: 'whole',
    })
  })

  it('refuses to drop entries that only one node or the validator has applied', () => {
    const kinds = withKind('damaged', 11)
    const others = [follower('validator', 22)]
    expect(planOf({ kinds, nodes: nodesAt(22, 24, 22, 22), others })).toEqual({
      kind: 'refused',
      refusal: { kind: 'applied', from: 23, to: 24, needed: 2, by: ['sv-2'] },
    })
    expect(planOf({ kinds, nodes: nodesAt(22, 22, 22, 22) })).toMatchObject({
      refusal: { kind: 'applied', by: ['validator'] },
    })
  })

  it('cuts nothing off while the head of the validator is not known', () => {
    const others = [follower('validator', null)]
    const nodes = nodesAt(22, 22, 22, 22)
    expect(planOf({ kinds: withKind('damaged', 11), nodes, others })).toEqual({
      kind: 'refused',
      refusal: { kind: 'unknown-heads', silent: ['validator'] },
    })
    expect(planOf({ kinds: withKind('damaged', 3), nodes, others })).toMatchObject({
      kind: 'repair',
      cut: null,
    })
  })

  it('refuses a log that is not the one that f + 1 nodes followed', () => {
    const nodes = nodesAt(END, END, END, END).map((node, index) => ({
      ...node,
      hasOtherHistory: index < 2,
    }))
    expect(planOf({ nodes })).toEqual({
      kind: 'refused',
      refusal: { kind: 'another-log', nodes: ['sv-1', 'sv-2'] },
    })
  })

  it('refuses an end of which enough nodes hold two versions', () => {
    const other = { ...(chain[11] as GroupLink), hash: 'other' }
    const nodes = nodesAt(END, END, 22, 22).map((node, index) =>
      index < 2 ? node : { ...node, groups: [...node.groups, other] },
    )
    expect(planOf({ kinds: withKind('missing', 11), nodes })).toEqual({
      kind: 'refused',
      refusal: {
        kind: 'forked',
        at: 23,
        holders: [
          ['sv-1', 'sv-2'],
          ['sv-3', 'sv-4'],
        ],
      },
    })
  })
})

const kind = fc.constantFrom<Kind>('whole', 'whole', 'whole', 'damaged', 'missing')
const head = fc.nat(chain.length).map((groups) => 2 * groups)
const honest = fc.record({
  head: fc.option(head, { freq: 6 }),
  storedFrom: fc.constantFrom(1, 1, 1, 9, 17),
})
/** A lying node: it reports any head, and groups that no other node has. */
const liar = fc.record({ head, lies: fc.subarray([...chain]) })

const world = fc.record({
  kinds: fc.array(kind, { minLength: chain.length, maxLength: chain.length }),
  aheadFrom: fc.integer({ min: 6, max: 14 }),
  honest: fc.array(honest, { minLength: 3, maxLength: 3 }),
  liar: fc.oneof(
    honest.map((one) => ({ ...one, lies: null })),
    liar.map((one) => ({ ...one, storedFrom: 1 })),
  ),
  validator: head,
})

describe('with at most one lying node', () => {
  const inWorld = (check: (plan: RepairPlan, input: RepairInput, heads: number[]) => void) =>
    fc.assert(
      fc.property(world, (made) => {
        const nodes = made.honest.map((one, index) =>
          follower(`sv-${index + 1}`, one.head, one.storedFrom),
        )
        const last = follower('sv-4', made.liar.head, made.liar.storedFrom)
        const { lies } = made.liar
        nodes.push(
          lies === null
            ? last
            : { ...last, groups: lies.map((group) => ({ ...group, hash: `${group.hash}!` })) },
        )
        const others = [follower('validator', made.validator)]
        const parts = partsOf(
          made.kinds.map((one, index) =>
            one === 'whole' && index >= made.aheadFrom ? 'ahead' : one,
          ),
        )
        const start = { offset: 0, hash: genesisHash }
        const input = { start, parts, nodes, others, f: F }
        const heads = [...made.honest.map((one) => one.head ?? 0), made.validator]
        check(planRepair(input), input, heads)
      }),
      { numRuns: 2000 },
    )

  it('the repaired log is the true one, without a gap, and reaches every applied head', () => {
    let repairs = 0
    inWorld((plan, { nodes, parts }, heads) => {
      if (plan.kind !== 'repair') return
      repairs++
      let end = 0
      for (const step of plan.steps) {
        const [from, to] =
          step.kind === 'copy'
            ? [step.from, step.to]
            : [step.group.firstOffset, step.group.lastOffset]
        expect(from).toBe(end + 1)
        end = to
        if (step.kind === 'copy') {
          expect(parts).toContainEqual(expect.objectContaining({ from, to }))
          expect(parts.find((part) => part.from === from)?.kind).not.toBe('damaged')
        } else {
          expect(chain).toContainEqual(step.group)
          const holders = nodes.filter(({ groups }) => groups.includes(step.group))
          expect(holders.length).toBeGreaterThan(F)
        }
      }
      expect(end).toBe(plan.end)
      expect(end).toBeGreaterThanOrEqual(Math.max(...heads))
      if (plan.cut !== null) expect(plan.cut.from).toBe(end + 1)
    })
    expect(repairs).toBeGreaterThan(50)
  })

  it('a log that is damaged or shorter than an applied head is not called whole', () => {
    inWorld((plan, { parts }, heads) => {
      if (plan.kind !== 'whole') return
      expect(parts.some(({ kind }) => kind === 'damaged')).toBe(false)
      expect(plan.end).toBe(parts.at(-1)?.to ?? 0)
      expect(plan.end).toBeGreaterThanOrEqual(Math.max(...heads))
    })
  })

  it('any damage is repaired if two nodes have applied and stored all groups', () => {
    inWorld((_, input) => {
      const full = ['sv-1', 'sv-2', 'sv-3'].map((name) => follower(name, END))
      const nodes = [...full, ...input.nodes.slice(3)]
      const plan = planRepair({ ...input, nodes })
      expect(plan.kind).not.toBe('refused')
      expect(plan).toMatchObject({ end: END })
    })
  })
})
