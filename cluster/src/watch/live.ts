/** The status of the cluster with measurements, the events that led there, and the measured lookups. */
import type { Clock } from '@quorumscan/base'
import { repeat } from '@quorumscan/runtime'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import { takesVote } from '../faults/fault-spec.ts'
import type { Cluster } from '../rig/cluster.ts'
import { type EventMemory, type LiveEvent, step } from './events.ts'
import { createFeed } from './feed.ts'
import type { NodeStatistics, Prober } from './prober.ts'

/** A person takes this for at once. */
const INTERVAL_MS = 250
/** More events than a screen shows. */
const EVENTS_MAX = 500
const NO_STATISTICS: NodeStatistics = { agreement: null, p50Ms: null, p99Ms: null, lastError: null }

type Watched = Pick<Cluster, 'status'> & { readonly faults: Pick<Cluster['faults'], 'active'> }

export type Live = ReturnType<typeof startLive>
export type LiveStatus = ReturnType<typeof liveStatusOf>

/** The status of a cluster, with the faults in force and what the prober measured. */
function liveStatusOf(cluster: Watched, prober: Prober | null) {
  const status = cluster.status()
  const faults = cluster.faults.active()
  const newest = Math.max(...status.nodes.map((node) => node.offset ?? 0))
  return {
    ...status,
    /** All in force, including those of the validator and the synchronizer. */
    faults,
    /** The latest lookup at the nodes; null where none is measured. */
    atNodes: prober?.samples.recent().at(-1)?.atNodes ?? null,
    nodes: status.nodes.map((node) => {
      const own = faults.filter(({ spec }) => spec.node === node.name)
      const statistics = prober?.statistics(node.name) ?? NO_STATISTICS
      const { lastError } = statistics
      return {
        ...node,
        // Measurements of a node that is no longer up are out of date.
        ...(node.state === 'up' ? statistics : { ...NO_STATISTICS, lastError }),
        /** Log entries that it lags the most advanced node. */
        lag: node.offset === null ? null : newest - node.offset,
        faults: own,
        /** Whether lookups can count on its vote: it is up, and no fault takes its vote. */
        isCounted: node.state === 'up' && !own.some(({ spec }) => takesVote(spec)),
      }
    }),
  }
}

export function startLive(options: {
  readonly cluster: Watched
  readonly prober: Prober | null
  readonly clock: Clock
}) {
  const { cluster, prober, clock } = options
  const statuses = createFeed<LiveStatus>(1)
  const events = createFeed<LiveEvent>(EVENTS_MAX)
  const publish = (event: Omit<LiveEvent, 'at'>) =>
    events.publish({ at: formatTime(clock.nowMicros()), ...event })
  const status = () => liveStatusOf(cluster, prober)
  let memory: EventMemory | null = null
  let text = ''
  const look = () => {
    const now = status()
    const nowText = JSON.stringify(now)
    const seen = step(memory, now, clock.monotonicMs())
    memory = seen.memory
    for (const event of seen.events) publish(event)
    if (nowText !== text) statuses.publish(now)
    text = nowText
  }
  const looking = repeat(look, { clock, everyMs: INTERVAL_MS })
  return {
    status,
    statuses,
    events,
    /** Null where lookups are not measured. */
    samples: prober?.samples ?? null,
    /** Publishes what happened to a process without a command. */
    noteIncident: (node: string, sentence: string, kind: LiveEvent['kind']) =>
      publish({ kind, node, sentence }),
    async close(): Promise<void> {
      await looking[Symbol.asyncDispose]()
      await prober?.close()
    },
  }
}
