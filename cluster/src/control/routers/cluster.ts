/** The cluster as a whole: what it is like, how that changes, and its end. */
import { z } from 'zod'
import { procedure, router } from '../trpc.ts'

export const clusterRouter = router({
  status: procedure.query(({ ctx }) => ctx.live.status()),
  /** The state now, and then every other one. */
  watch: procedure.subscription(async function* ({ ctx, signal }) {
    yield ctx.live.status()
    yield* ctx.live.statuses.follow(signal ?? never)
  }),
  /** What has happened of late, oldest first. */
  events: procedure.query(({ ctx }) => ctx.live.events.recent()),
  watchEvents: procedure.subscription(async function* ({ ctx, signal }) {
    yield* ctx.live.events.follow(signal ?? never)
  }),
  repairLog: procedure
    .input(z.object({ isCutAllowed: z.boolean() }))
    .mutation(({ ctx, input }) => ctx.cluster.repairLog(input)),
  down: procedure.mutation(({ ctx }) => ctx.down()),
})

/** A call without a signal ends with its connection only. */
const never = new AbortController().signal
