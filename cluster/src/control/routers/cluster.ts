/** The cluster as a whole: what it is like, and its end. */
import { procedure, router } from '../trpc.ts'

export const clusterRouter = router({
  status: procedure.query(({ ctx }) => ctx.cluster.status()),
  down: procedure.mutation(({ ctx }) => ctx.down()),
})
