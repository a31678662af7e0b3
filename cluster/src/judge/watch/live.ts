/** The status of the cluster with measurements, the events that led there, and the measured lookups. */
import type { Clock } from '@quorumscan/base'
import { repeat } from '@quorumscan/runtime'
import { formatInstant } from '@quorumscan/verifier'
import type { Cluster } from '../../rig/cluster.ts'
import { type LiveStatus, liveStatusOf } from '../../rig/status.ts'
import { type EventMemory, type LiveEvent, nextEvents } from './events.ts'
import { createFeed } from './feed.ts'
import type { Prober } from './prober.ts'

/** Short enough that a person sees no delay. */
const INTERVAL_MS = 250
/** More events than a screen shows. */
const EVENTS_MAX = 500

/** Starts at once, and publishes until it is closed. */
export function startStatusFeed(
  cluster: Pick<Cluster, 'status' | 'faults'>,
  prober: Prober,
  clock: Clock,
) {
  const statuses = createFeed<LiveStatus>(1)
  const events = createFeed<LiveEvent>(EVENTS_MAX)
  const publish = (event: Omit<LiveEvent, 'at'>) =>
    events.publish({ at: formatInstant(clock.nowMicros()), ...event })
  const status = () => liveStatusOf(cluster, prober)
  let memory: EventMemory | null = null
  let text = ''
  const publishChanges = () => {
    const now = status()
    const nowText = JSON.stringify(now)
    const next = nextEvents(memory, now, clock.monotonicMs())
    memory = next.memory
    for (const event of next.events) publish(event)
    if (nowText !== text) statuses.publish(now)
    text = nowText
  }
  const publishing = repeat(publishChanges, { clock, everyMs: INTERVAL_MS })
  return {
    status,
    statuses,
    events,
    samples: prober.samples,
    /** Publishes an event. */
    publish,
    async close(): Promise<void> {
      await publishing[Symbol.asyncDispose]()
      await prober.close()
    },
  }
}
