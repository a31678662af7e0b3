/** What the agent of a process tells about its job queues, which no public route shows. */
import type { Jobs } from '@quorumscan/jobs'
import { z } from 'zod'
import type { AgentHandlers } from './agent.ts'

const retried = z.object({ job: z.string().max(64), contractId: z.string().max(200) })

export function jobHandlers(jobs: Pick<Jobs, 'counts' | 'failures' | 'retry'>): AgentHandlers {
  return {
    '/jobs': async () => ({
      queues: Object.fromEntries(await jobs.counts()),
      failures: await jobs.failures(),
    }),
    '/jobs/retry': async (body) => {
      const { job, contractId } = retried.parse(body)
      return await jobs.retry(job, contractId)
    },
  }
}
