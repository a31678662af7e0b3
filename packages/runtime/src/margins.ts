import type { Metrics } from './metrics.ts'

/** How much can still be lost before something stops. */
export function measureMargins(
  metrics: Metrics,
  read: () => Iterable<readonly [kind: 'lookups' | 'registrations' | 'ordering', count: number]>,
): void {
  metrics.sampled('gauge', {
    name: 'can_lose',
    help: 'How many more super-validators can be lost before these stop; below zero, they have stopped.',
    labels: ['kind'],
    read: () => [...read()].map(([kind, count]) => [[kind], count] as const),
  })
}
