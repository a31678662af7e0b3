/** The metrics of the control plane: the state of every process, and the faults in force. */
import { createMetrics, type Metrics } from '@quorumscan/runtime'
import { type LiveStatus, servicesOf } from '../rig/status.ts'

/** @param status - Undefined while the control plane starts. */
export function createControlMetrics(status: () => LiveStatus | undefined): Metrics {
  const metrics = createMetrics()
  metrics.sampled('gauge', {
    name: 'process_up',
    help: '1 while the process and its Redis are up, by process.',
    labels: ['process', 'state'],
    read: () => {
      const now = status()
      const services = now === undefined ? [] : servicesOf(now)
      return services.map(({ name, state }) => [[name, state], state === 'up' ? 1 : 0])
    },
  })
  metrics.sampled('gauge', {
    name: 'faults',
    help: 'Faults in force, by node and kind.',
    labels: ['node', 'kind'],
    read: () => (status()?.faults ?? []).map(({ spec }) => [[spec.node, spec.kind], 1]),
  })
  return metrics
}
