import { createSystemClock } from '@quorumscan/base'
import { createMetrics } from '@quorumscan/runtime'
import { memberSetOf } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { measuredLog } from './metrics.ts'

type Log = Parameters<typeof measuredLog>[1]['log']

/** The metrics of a log. */
async function metricsOf(log: Partial<Log>, memberCount = 4): Promise<string> {
  const names = Array.from({ length: memberCount }, (_, index) => `sv-${index}`)
  const nodes = names.map((name) => ({ name, scanKey: '', operatorKey: '' }))
  const metrics = createMetrics()
  const measured = measuredLog(
    { metrics, clock: createSystemClock() },
    {
      log: {
        append: async () => {},
        head: () => ({ offset: 7, recordTime: 0 }),
        refusal: () => null,
        ordering: () => null,
        state: () => 'live',
        ...log,
      },
      followerCount: () => 5,
      set: memberSetOf({ nodes }),
    },
  )
  await measured.append(new Uint8Array(), 'alice').catch(() => {})
  return (await metrics.expose()).text
}

it.each([
  [4, 0, 1, 'live'],
  [4, 1, 0, 'live'],
  [4, 2, -1, 'live'],
  [4, 0, -1, 'stalled'],
  // Blocks need more than two thirds (5 of 6), not the quorum for confirmations (4 of 6).
  [6, 0, 1, 'live'],
  [6, 2, -1, 'live'],
  [7, 1, 1, 'live'],
])(
  'of %i members, with %i away, %i further failures are tolerated: %s',
  async (count, awayCount, margin, state) => {
    const absent = Array.from({ length: awayCount }, (_, at) => `sv-${at}`)
    const ordering = () => ({ height: 1, round: 0, connected: [], absent })
    const text = await metricsOf({ ordering, state: () => state }, count)
    expect(text).toContain(`quorumscan_can_lose{kind="ordering"} ${margin}\n`)
  },
)

it('has no margin for a synchronizer that orders alone, and counts failures and successes', async () => {
  const text = await metricsOf({ append: () => Promise.reject(new Error('no')) })
  expect(text).not.toContain('can_lose{')
  expect(text).toContain('quorumscan_log_append_duration_seconds_count{outcome="failed"} 1\n')
  expect(text).toContain('quorumscan_log_append_duration_seconds_count{outcome="done"} 0\n')
})
