import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BLOCKED_MS_MAX,
  nextPhase,
  type PeerPhase,
  recordReport,
  type TurnPeer,
  UNREACHABLE_MS_MAX,
} from './turn.ts'

const NAMES = ['sv-1', 'sv-2', 'sv-3', 'sv-4', 'sv-5', 'sv-6', 'sv-7']
/** The longest restart: from the start of a turn until the member reports again. */
const RESTART_MS_MAX = 5_000
const REBUILD_MS_MAX = 60_000

type Fate = {
  /** When it comes up with software that has to rebuild. */
  readonly startMs: number
  /** When it goes down for good; null: never. */
  readonly deathMs: number | null
  readonly rebuildMs: number
  readonly restartMs: number
  /** It always reports this, and takes no turn. */
  readonly lie: PeerPhase | null
}

const fates = fc.array(
  fc.record({
    startMs: fc.integer({ min: 0, max: 60_000 }),
    deathMs: fc.option(fc.integer({ min: 0, max: 200_000 }), { freq: 4 }),
    rebuildMs: fc.integer({ min: 0, max: REBUILD_MS_MAX }),
    restartMs: fc.integer({ min: 0, max: RESTART_MS_MAX }),
    lie: fc.constant<PeerPhase | null>(null),
  }),
  { minLength: 1, maxLength: NAMES.length },
)

/** A network in which members ask each other one by one, at moments that `draw` decides. */
function simulate(fateOf: readonly Fate[], draw: () => number) {
  let nowMs = 0
  const members = fateOf.map((fate, index) => ({
    fate,
    name: NAMES[index] ?? '',
    phase: 'waits' as 'waits' | 'claims' | 'begins',
    begunMs: null as number | null,
    others: fateOf.flatMap((_, other): TurnPeer[] =>
      other === index
        ? []
        : [{ name: NAMES[other] ?? '', report: 'unreachable', unreachableMs: 0, blockedMs: 0 }],
    ),
    blockers: [] as readonly string[],
    reports: [] as PeerPhase[],
    lastRoundMs: fate.startMs,
    nextMs: fate.startMs,
  }))
  type Member = (typeof members)[number]
  const isDead = ({ fate }: Member) => fate.deathMs !== null && nowMs >= fate.deathMs
  const isDone = ({ begunMs, fate }: Member) =>
    begunMs !== null && nowMs >= begunMs + fate.restartMs + fate.rebuildMs
  const reportOf = (member: Member): PeerPhase => {
    const { fate, phase, begunMs } = member
    if (isDead(member)) return 'unreachable'
    if (fate.lie !== null) return fate.lie
    // Before, its older software serves.
    if (nowMs < fate.startMs || isDone(member)) return 'ready'
    if (begunMs !== null) return nowMs < begunMs + fate.restartMs ? 'unreachable' : 'rebuilds'
    return phase as PeerPhase
  }
  const act = (member: Member): void => {
    const { others, reports } = member
    const asked = others[reports.length]
    if (asked !== undefined) {
      const other = members.find(({ name }) => name === asked.name)
      if (other !== undefined) reports.push(reportOf(other))
      member.nextMs = nowMs + draw() * 100
      return
    }
    const ms = nowMs - member.lastRoundMs
    member.lastRoundMs = nowMs
    member.others = others.map((one, index) =>
      recordReport(one, {
        report: reports[index] ?? 'unreachable',
        ms,
        wasBlocker: member.blockers.includes(one.name),
      }),
    )
    if (member.phase === 'begins') return
    const { next, blockers } = nextPhase({ name: member.name, phase: member.phase }, member.others)
    member.phase = next
    member.blockers = blockers
    member.reports = []
    if (next === 'begins') member.begunMs = nowMs
    member.nextMs = nowMs + draw() * 2_000
  }
  const takesTurns = (member: Member) => member.fate.lie === null && !isDead(member)
  let atOnceMax = 0
  for (;;) {
    const active = members.filter((one) => takesTurns(one) && one.begunMs === null)
    const atWork = members.filter((one) => takesTurns(one) && one.begunMs !== null && !isDone(one))
    atOnceMax = Math.max(atOnceMax, atWork.length)
    const [next] = active.sort((one, other) => one.nextMs - other.nextMs)
    if (next === undefined) return { atOnceMax, endedMs: nowMs }
    nowMs = Math.max(nowMs, next.nextMs)
    if (!isDead(next)) act(next)
    if (nowMs > 100 * BLOCKED_MS_MAX) throw new Error('it does not end')
  }
}

const randomOf = (seed: number) => {
  let state = seed
  // The random numbers of Park and Miller.
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
const seeds = fc.integer({ min: 1, max: 2_147_483_646 })

describe('turns', () => {
  it('come one at a time to all members that run, whenever each starts, asks and stops', () => {
    fc.assert(
      fc.property(fates, seeds, (fateOf, seed) => {
        const { atOnceMax, endedMs } = simulate(fateOf, randomOf(seed))
        expect(atOnceMax).toBeLessThanOrEqual(1)
        // Per member: restart and rebuild, and the wait of the others if it is down.
        const each = RESTART_MS_MAX + REBUILD_MS_MAX + UNREACHABLE_MS_MAX + 10_000
        expect(endedMs).toBeLessThan(60_000 + fateOf.length * each)
      }),
      { numRuns: 300 },
    )
  })

  it('come in the order of names to members that start together', () => {
    const fate = { startMs: 0, deathMs: null, rebuildMs: 1_000, restartMs: 100, lie: null }
    const own = { name: 'sv-2', phase: 'waits' } as const
    const other = { unreachableMs: 0, blockedMs: 0 }
    const report = (name: string, report: PeerPhase): TurnPeer => ({ ...other, name, report })
    expect(nextPhase(own, [report('sv-1', 'waits'), report('sv-3', 'waits')])).toEqual({
      next: 'waits',
      blockers: ['sv-1'],
    })
    expect(nextPhase(own, [report('sv-1', 'ready'), report('sv-3', 'waits')]).next).toBe('claims')
    const claims = { name: 'sv-2', phase: 'claims' } as const
    expect(nextPhase(claims, [report('sv-1', 'claims')]).next).toBe('waits')
    expect(nextPhase(claims, [report('sv-3', 'claims')]).next).toBe('claims')
    expect(nextPhase(claims, [report('sv-1', 'waits'), report('sv-3', 'other')]).next).toBe(
      'begins',
    )
    expect(simulate([fate, fate, fate], () => 0.5).atOnceMax).toBe(1)
  })

  it('are delayed by a member that lies only for a limited time', () => {
    const lies: readonly PeerPhase[] = ['waits', 'claims', 'rebuilds', 'unreachable']
    const honest = { startMs: 0, deathMs: null, rebuildMs: 1_000, restartMs: 100, lie: null }
    for (const lie of lies) {
      const { atOnceMax, endedMs } = simulate([{ ...honest, lie }, honest, honest], randomOf(7))
      expect(atOnceMax).toBe(1)
      expect(endedMs).toBeLessThan(BLOCKED_MS_MAX + 60_000)
    }
  })
})
