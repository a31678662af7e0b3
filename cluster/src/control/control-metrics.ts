/** What the control plane measures: the state of every process, and the faults in force. */
import { createMetrics, type Metrics, type Sample } from '@quorumscan/runtime'
import { type LiveStatus, servicesOf } from '../rig/status.ts'
import type { Live } from '../watch/live.ts'

/** @param live - Null while the control plane starts. */
export function createControlMetrics(live: () => Live | null): Metrics {
  const metrics = createMetrics()
  const read =
    <Names extends readonly string[]>(samplesOf: (status: LiveStatus) => Sample<Names>[]) =>
    () => {
      const status = live()?.status()
      return status === undefined ? [] : samplesOf(status)
    }
  metrics.sampled('gauge', {
    name: 'process_up',
    help: '1 while the process and its Redis are up, by process.',
    labels: ['process', 'state'],
    read: read((status) =>
      servicesOf(status).map(
        ({ name, state }): Sample<['process', 'state']> => [[name, state], state === 'up' ? 1 : 0],
      ),
    ),
  })
  metrics.sampled('gauge', {
    name: 'faults',
    help: 'Faults in force, by node and kind.',
    labels: ['node', 'kind'],
    read: read(({ faults }) =>
      faults.map(({ spec }): Sample<['node', 'kind']> => [[spec.node, spec.kind], 1]),
    ),
  })
  return metrics
}
