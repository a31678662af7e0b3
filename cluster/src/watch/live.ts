/** The state of the cluster as it changes: what `status` shows, the events that led there, and latencies. */
import type { Clock } from '@quorumscan/base'
import { repeat } from '@quorumscan/runtime'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import { takesVote } from '../faults/fault-spec.ts'
import type { Cluster } from '../rig/cluster.ts'
import type { ClusterStatus, LiveStatus, NodeStatistics } from '../rig/status.ts'
import { type EventMemory, type LiveEvent, step } from './events.ts'
import { createFeed } from './feed.ts'
import type { Prober } from './prober.ts'

/** A person takes this for at once. */
const INTERVAL_MS = 250
/** What an event log on a screen shows at most. */
const EVENTS_MAX = 500

export type Live = ReturnType<typeof startLive>

const NO_STATISTICS: NodeStatistics = { agreement: null, p50Ms: null, p99Ms: null, lastError: null }

export function startLive(options: {
  readonly cluster: {
    status(): ClusterStatus
    readonly faults: Pick<Cluster['faults'], 'active'>
  }
  readonly prober: Prober | null
  readonly clock: Clock
}) {
  const { cluster, prober, clock } = options
  const statuses = createFeed<LiveStatus>(1)
  const events = createFeed<LiveEvent>(EVENTS_MAX)
  const publish = (event: Omit<LiveEvent, 'at'>) =>
    events.publish({ at: formatTime(clock.nowMicros()), ...event })

  const status = (): LiveStatus => {
    const plain = cluster.status()
    const faults = cluster.faults.active()
    const newest = Math.max(...plain.nodes.map((node) => node.offset ?? 0))
    return {
      ...plain,
      faults,
      atNodes: prober?.samples.recent().at(-1)?.atNodes ?? null,
      nodes: plain.nodes.map((node) => {
        const own = faults.filter(({ spec }) => spec.node === node.name)
        const statistics = prober?.statistics(node.name) ?? NO_STATISTICS
        const { lastError } = statistics
        return {
          ...node,
          // What was measured while it was up is not so any more.
          ...(node.state === 'up' ? statistics : { ...NO_STATISTICS, lastError }),
          lag: node.offset === null ? null : newest - node.offset,
          faults: own,
          isCounted: node.state === 'up' && !own.some(({ spec }) => takesVote(spec)),
        }
      }),
    }
  }
  let memory: EventMemory | null = null
  let text = ''
  const look = () => {
    const now = status()
    const nowText = JSON.stringify(now)
    const heard = step(memory, now, clock.monotonicMs())
    memory = heard.memory
    for (const event of heard.events) publish(event)
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
    /** Something happened to a process without a command. */
    noteIncident: (node: string, sentence: string, kind: LiveEvent['kind']) =>
      publish({ kind, node, sentence }),
    async close(): Promise<void> {
      await looking[Symbol.asyncDispose]()
      await prober?.close()
    },
  }
}
