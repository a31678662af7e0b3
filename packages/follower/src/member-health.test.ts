/** What counts as a healthy member, in each state that a member of four can be in. */
import type { MemberHealth } from '@quorumscan/errors/node-words'
import { createMetrics, type PeerState } from '@quorumscan/runtime'
import { memberSetOf } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { createMemberHealth, UNSIGNED_MS_MAX } from './member-health.ts'

const NAMES = ['sv-1', 'sv-2', 'sv-3', 'sv-4']

type Seen = {
  readonly says: PeerState
  /** Whether it signed a state as f + 1 members did, since the process started. */
  readonly hasSigned: boolean
  readonly unsignedMs: number
  readonly lagMicros?: number
}

const FOLLOWS: Seen = { says: 'following', hasSigned: true, unsignedMs: 0 }

/** sv-1 judges; sv-4 is seen so, the others follow. */
function judge(seen: Partial<Seen>, own: Partial<Seen> = {}) {
  const metrics = createMetrics()
  const seenOf = (name: string): Seen => ({
    ...FOLLOWS,
    ...(name === 'sv-1' && own),
    ...(name === 'sv-4' && seen),
  })
  const members = createMemberHealth({
    set: memberSetOf({ nodes: NAMES.map((name) => ({ name, scanKey: '', operatorKey: '' })) }),
    self: { name: 'sv-1', isReady: () => seenOf('sv-1').says === 'following' },
    clocks: { answerOf: (name) => seenOf(name).says },
    progress: {
      newestOf: (name) => (seenOf(name).hasSigned ? { offset: 7, recordTime: 1 } : null),
      lagMicros: (name) => (seenOf(name).hasSigned ? (seenOf(name).lagMicros ?? 0) : null),
      unsignedMs: (name) => seenOf(name).unsignedMs,
    },
    metrics,
  })
  return { members, metrics }
}

it.each<[what: string, seen: Partial<Seen>, health: MemberHealth]>([
  ['signs as the others', {}, 'healthy'],
  ['signed the newest but one just now', { unsignedMs: UNSIGNED_MS_MAX }, 'healthy'],
  ['does not answer, although it signed just now', { says: 'silent' }, 'silent'],
  ['says that it answers no lookups', { says: 'behind' }, 'behind'],
  ['says that it follows, and signs nothing', { unsignedMs: UNSIGNED_MS_MAX + 1 }, 'unsigned'],
  ['signs states that are half a minute old', { lagMicros: 30_000_001 }, 'behind'],
  ['says that it follows, and never signed', { hasSigned: false }, 'unsigned'],
])('a member that %s is judged so everywhere', async (_, seen, health) => {
  const { members, metrics } = judge(seen)
  expect(members.healthOf('sv-4')).toBe(health)
  expect(members.list().at(-1)).toMatchObject({ name: 'sv-4', health })
  const { text } = await metrics.expose()
  const count = health === 'healthy' ? 4 : 3
  expect(text).toContain(`quorumscan_node_healthy{node="sv-4"} ${count - 3}\n`)
  expect(text).toContain(`quorumscan_can_lose{kind="lookups"} ${count - 2}\n`)
  expect(text).toContain(`quorumscan_can_lose{kind="registrations"} ${count - 3}\n`)
})

it.each<[what: string, own: Partial<Seen>, health: MemberHealth]>([
  ['is not ready', { says: 'behind' }, 'behind'],
  ['signs other states than the others', { hasSigned: false }, 'unsigned'],
])('a process that %s does not count itself', async (_, own, health) => {
  const { members, metrics } = judge({}, own)
  expect(members.healthOf('sv-1')).toBe(health)
  expect((await metrics.expose()).text).toContain('quorumscan_can_lose{kind="lookups"} 1\n')
})

it('a member that signs nothing is told why it does not count, and a validator nothing', () => {
  expect(judge({}).members.ownProblem()).toBeNull()
  expect(judge({}, { unsignedMs: UNSIGNED_MS_MAX }).members.ownProblem()).toBeNull()
  expect(judge({}, { unsignedMs: 45_000 }).members.ownProblem()).toBe(
    'for 45 s it signs none of the states that f + 1 others sign. Others do not count it',
  )
})
