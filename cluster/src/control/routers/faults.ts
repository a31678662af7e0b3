/** Faults: begun, listed while in force, healed. */
import { z } from 'zod'
import { faultDurationMs, faultSpec, nodeName } from '../../faults/fault-spec.ts'
import { procedure, router } from '../trpc.ts'

/** Nothing selected: all. */
const selection = z
  .object({
    id: z.string().max(32).optional(),
    node: nodeName.optional(),
  })
  .transform(({ id, node }) => ({
    ...(id === undefined ? {} : { id }),
    ...(node === undefined ? {} : { node }),
  }))

export const faultsRouter = router({
  list: procedure.query(({ ctx }) => ctx.cluster.faults()),
  inject: procedure
    .input(z.object({ fault: faultSpec, durationMs: faultDurationMs.default(null) }))
    .mutation(({ ctx, input }) => ctx.cluster.inject(input.fault, input.durationMs)),
  heal: procedure.input(selection).mutation(({ ctx, input }) => ctx.cluster.heal(input)),
})
