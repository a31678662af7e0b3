import { createMetrics } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { measureQueues } from './queue.ts'
import { createRunMetrics } from './worker.ts'

it('measures each run of a job by its outcome, and rethrows its error', async () => {
  const clock = createManualClock()
  const metrics = createMetrics()
  const measured = createRunMetrics({ metrics, clock, tracer: null }, [{ name: 'renew' }])
  await measured('renew', 'good', () => clock.advance(2000))
  const failed = measured('renew', 'bad', async () => {
    await clock.advance(2000)
    throw new Error('refused')
  })
  await expect(failed).rejects.toThrow('refused')
  const { text } = await metrics.expose()
  for (const outcome of ['done', 'failed']) {
    const labels = `queue="renew",outcome="${outcome}"`
    expect(text).toContain(`quorumscan_job_duration_seconds_count{${labels}} 1`)
    expect(text).toContain(`quorumscan_job_duration_seconds_sum{${labels}} 2`)
  }
})

it('reports the number of jobs of each queue by state', async () => {
  const metrics = createMetrics()
  const counts = { waiting: 1, delayed: 2, active: 3 }
  measureQueues(metrics, [{ name: 'renew', counts: async () => counts }])
  const { text } = await metrics.expose()
  for (const [state, count] of Object.entries(counts))
    expect(text).toContain(`quorumscan_jobs{queue="renew",state="${state}"} ${count}`)
})
