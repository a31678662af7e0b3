import { expect, it } from 'vitest'
import type { LiveStatus } from '../rig/status.ts'
import { createControlMetrics } from './control-metrics.ts'

it('exports the state of every process, and the faults in force', async () => {
  // Of a status only names, states and faults count.
  const status = {
    nodes: [
      { name: 'sv-1', state: 'up' },
      { name: 'sv-2', state: 'paused' },
    ],
    validator: { state: 'up' },
    synchronizer: { state: 'down' },
    members: [],
    faults: [{ spec: { node: 'sv-2', kind: 'pause' } }],
  } as unknown as LiveStatus
  const exposed = async (now: LiveStatus | undefined) =>
    (await createControlMetrics(() => now).expose()).text
  const text = await exposed(status)
  for (const line of [
    'process_up{process="sv-1",state="up"} 1',
    'process_up{process="sv-2",state="paused"} 0',
    'process_up{process="validator",state="up"} 1',
    'process_up{process="synchronizer",state="down"} 0',
    'faults{node="sv-2",kind="pause"} 1',
  ])
    expect(text).toContain(`quorumscan_${line}\n`)
  expect(await exposed(undefined)).not.toContain('quorumscan_process_up{')
})
