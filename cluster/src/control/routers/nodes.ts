/** Single processes: looked at, started and stopped. What breaks them is a fault as well. */
import { z } from 'zod'
import { nodeName, part } from '../../faults/fault-spec.ts'
import { viewNode } from '../../watch/node-view.ts'
import { procedure, router } from '../trpc.ts'

const target = z.strictObject({ node: nodeName, part })

export const nodesRouter = router({
  view: procedure
    .input(z.object({ node: nodeName }))
    .query(({ ctx, input }) => viewNode(ctx.cluster.servicesOf(input.node), ctx.reading.genesis)),
  kill: procedure.input(target).mutation(({ ctx, input }) => ctx.cluster.kill(input)),
  pause: procedure.input(target).mutation(({ ctx, input }) => ctx.cluster.pause(input)),
  resume: procedure.input(target).mutation(({ ctx, input }) => ctx.cluster.resume(input)),
  restart: procedure.input(target).mutation(({ ctx, input }) => ctx.cluster.restart(input)),
  prune: procedure
    .input(z.object({ node: nodeName, to: z.number().int().min(1) }))
    .mutation(({ ctx, input }) => ctx.cluster.prune(input)),
  wipe: procedure
    .input(z.object({ node: nodeName, disk: z.boolean().default(false) }))
    .mutation(({ ctx, input: { node, disk } }) =>
      disk ? ctx.cluster.wipeDisk(node) : ctx.cluster.wipe(node),
    ),
})
