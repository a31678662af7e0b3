/**
 * The one judgement of a member's health, as this process sees it (D-87): what the member proves counts for more than what
 * it says. `can_lose`, `/status`, the metrics and the alerts are made from it.
 */
import type { Certifier } from '@quorumscan/certifier'
import { healthLabel, type MemberHealth } from '@quorumscan/errors/node-words'
import {
  FOLLOWING_MICROS_MAX,
  type Metrics,
  measureFailuresTolerated,
  type PeerClocks,
  type PeerState,
} from '@quorumscan/runtime'
import type { MemberSet } from '@quorumscan/verifier'

/** An idle log has an entry every 10 s, so that each member signs as often. */
export const UNSIGNED_MS_MAX = 30_000
const MS_PER_SECOND = 1000

/** Measures the judgement, too. */
export function createMemberHealth(options: {
  readonly set: MemberSet
  /** The member that this process is, with what it says about itself; null: a validator. */
  readonly self: { readonly name: string; isReady(): boolean } | null
  readonly clocks: Pick<PeerClocks, 'answerOf'>
  readonly progress: Pick<Certifier['progress'], 'newestOf' | 'lagMicros' | 'unsignedMs'>
  readonly metrics: Metrics
}) {
  const { set, self, clocks, progress, metrics } = options
  const names = set.members.map(({ name }) => name)
  const saysOf = (name: string): PeerState => {
    if (name !== self?.name) return clocks.answerOf(name)
    return self.isReady() ? 'following' : 'behind'
  }
  const healthOf = (name: string): MemberHealth => {
    const says = saysOf(name)
    if (says !== 'following') return says
    const lagMicros = progress.lagMicros(name)
    if (lagMicros === null || progress.unsignedMs(name) > UNSIGNED_MS_MAX) return 'unsigned'
    // It may say otherwise by a wrong clock.
    return lagMicros > FOLLOWING_MICROS_MAX ? 'behind' : 'healthy'
  }
  metrics.sampled('gauge', {
    name: 'node_healthy',
    help: '1 while a node answers, follows the log, and signs the states that f + 1 nodes sign.',
    labels: ['node'],
    read: () => names.map((name) => [[name], healthOf(name) === 'healthy' ? 1 : 0] as const),
  })
  metrics.sampled('gauge', {
    name: 'node_unsigned_seconds',
    help: 'How long f + 1 other nodes have signed newer states while this one signed none of them; 0 while it signs, and while no node does.',
    labels: ['node'],
    read: () => names.map((name) => [[name], progress.unsignedMs(name) / MS_PER_SECOND] as const),
  })
  measureFailuresTolerated(metrics, () => {
    // A process alone has no others to judge.
    if (names.every((name) => name === self?.name)) return []
    const count = names.filter((name) => healthOf(name) === 'healthy').length
    return [
      ['lookups', count - set.f - 1],
      ['registrations', count - set.quorum],
    ]
  })
  return {
    healthOf,
    /** Why this member, which is ready, does not count at others; null: it does, or the process is no member. */
    ownProblem(): string | null {
      if (self === null || progress.unsignedMs(self.name) <= UNSIGNED_MS_MAX) return null
      const seconds = Math.floor(progress.unsignedMs(self.name) / MS_PER_SECOND)
      return `for ${seconds} s it ${healthLabel.unsigned}. Others do not count it`
    },
    /** For `/status`, in the order of the genesis. */
    list: () =>
      names.map((name) => ({
        name,
        health: healthOf(name),
        signedOffset: progress.newestOf(name)?.offset ?? null,
        unsignedSeconds: Math.floor(progress.unsignedMs(name) / MS_PER_SECOND),
      })),
  }
}
