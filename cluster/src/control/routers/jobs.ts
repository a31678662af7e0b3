/** The automation of every process: what waits, what failed of late, and trying it again. */
import { z } from 'zod'
import { nodeName } from '../../faults/fault-spec.ts'
import { procedure, router } from '../trpc.ts'

export const jobsRouter = router({
  /** Null for a process that does not answer now. */
  list: procedure.query(({ ctx }) => ctx.cluster.jobs()),
  retry: procedure
    .input(z.object({ node: nodeName, job: z.string().max(64), contractId: z.string().max(200) }))
    .mutation(({ ctx, input }) => ctx.cluster.retryJob(input)),
})
