import { createMetrics } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { measureJobs, measureQueues } from './job-metrics.ts'

it('times each run of a job, by how it ended, and passes its failure on', async () => {
  const clock = createManualClock()
  const metrics = createMetrics()
  const [job] = measureJobs({ metrics, clock, tracer: null }, [
    {
      name: 'renew',
      process: async (contractId: string, _deps: null) => {
        await clock.advance(2000)
        if (contractId === 'bad') throw new Error('refused')
      },
    },
  ])
  await job?.process('good' as never, null as never)
  await expect(job?.process('bad' as never, null as never)).rejects.toThrow('refused')
  const { text } = await metrics.expose()
  for (const outcome of ['done', 'failed']) {
    const labels = `queue="renew",outcome="${outcome}"`
    expect(text).toContain(`quorumscan_job_duration_seconds_count{${labels}} 1`)
    expect(text).toContain(`quorumscan_job_duration_seconds_sum{${labels}} 2`)
  }
})

it('shows how many jobs of each queue wait, and for what', async () => {
  const metrics = createMetrics()
  const counts = { waiting: 1, delayed: 2, active: 3 }
  measureQueues(metrics, { counts: async () => new Map([['renew', counts]]) })
  const { text } = await metrics.expose()
  for (const [state, count] of Object.entries(counts))
    expect(text).toContain(`quorumscan_jobs{queue="renew",state="${state}"} ${count}`)
})
