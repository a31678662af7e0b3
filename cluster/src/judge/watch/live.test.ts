import type { NodeState } from '@quorumscan/errors/node-words'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import type { Fault } from '../../faults/fault-spec.ts'
import type { Cluster } from '../../rig/cluster.ts'
import { createFeed } from './feed.ts'
import { startStatusFeed } from './live.ts'
import type { Prober } from './prober.ts'

const statistics = { agreement: 100, p50Ms: 5, p99Ms: 9, lastError: 'refused' }

it('reports measurements only of nodes that are up, and which votes lookups can count on', async () => {
  const states: readonly NodeState[] = ['up', 'up', 'down', 'paused', 'silent']
  const nodes = states.map((state, index) => ({
    name: `sv-${index + 1}`,
    state,
    offset: state === 'up' ? 7 - index : null,
  }))
  const up = { state: 'up' }
  const others = { cluster: {}, validator: up, synchronizer: up, members: [] }
  const faults = [{ spec: { kind: 'lie', node: 'sv-2', lie: 'deny' } }] as unknown as Fault[]
  const prober: Prober = {
    samples: createFeed(1),
    statistics: () => statistics,
    close: async () => {},
  }
  const cluster = {
    // Unused members are left out.
    status: () => ({ ...others, nodes }),
    faults: { active: () => faults },
  } as unknown as Cluster
  const live = startStatusFeed(cluster, prober, createManualClock())
  const reported = live
    .status()
    .nodes.map(({ p50Ms, p99Ms, agreement, lastError, lag, isCounted }) => ({
      p50Ms,
      p99Ms,
      agreement,
      lastError,
      lag,
      isCounted,
    }))
  const blank = { agreement: null, p50Ms: null, p99Ms: null, lastError: 'refused' }
  expect(reported).toEqual([
    { ...statistics, lag: 0, isCounted: true },
    { ...statistics, lag: 1, isCounted: false },
    ...[1, 2, 3].map(() => ({ ...blank, lag: null, isCounted: false })),
  ])
  await live.close()
})

it('counts no node that f + 1 processes judge unhealthy, and says so', async () => {
  const nodes = ['healthy', 'unsigned', null].map((health, index) => ({
    name: `sv-${index + 1}`,
    state: 'up',
    detail: null,
    offset: 7,
    health,
  }))
  const up = { state: 'up' }
  const others = { cluster: {}, validator: up, synchronizer: up, members: [] }
  const prober: Prober = {
    samples: createFeed(1),
    statistics: () => statistics,
    close: async () => {},
  }
  const cluster = {
    // Unused members are left out.
    status: () => ({ ...others, nodes }),
    faults: { active: () => [] },
  } as unknown as Cluster
  const live = startStatusFeed(cluster, prober, createManualClock())
  expect(live.status().nodes).toMatchObject([
    { isHealthy: true, isCounted: true, detail: null },
    {
      isHealthy: false,
      isCounted: false,
      detail: 'to other processes it signs none of the states that f + 1 others sign',
    },
    { isHealthy: true, isCounted: true, detail: null },
  ])
  await live.close()
})
