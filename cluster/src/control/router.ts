/** What the control plane can be asked, as a tRPC router. The CLI, tests and the console call it. */
import { initTRPC, TRPCError } from '@trpc/server'
import { z } from 'zod'
import type { Cluster } from '../cluster.ts'
import { ClusterError } from '../cluster-error.ts'
import { type AnsConfigControl, ansConfigInput, changeOf, inForceToWire } from './ans-config.ts'

export type ControlContext = {
  readonly cluster: Cluster
  readonly ansConfig: AnsConfigControl
  /** Stops the cluster, then the control plane itself. Returns when the cluster has stopped. */
  readonly down: () => Promise<void>
}

const trpc = initTRPC.context<ControlContext>().create()

/** Errors for a person keep their sentence; a bug stays an internal error. */
const procedure = trpc.procedure.use(async ({ next }) => {
  const result = await next()
  if (!result.ok && result.error.cause instanceof ClusterError)
    throw new TRPCError({ code: 'BAD_REQUEST', message: result.error.cause.message })
  return result
})

const nodeName = z.string().regex(/^[a-z0-9-]{1,32}$/)
const target = z.object({ node: nodeName, redis: z.boolean().default(false) })

export const controlRouter = trpc.router({
  status: procedure.query(({ ctx }) => ctx.cluster.status()),
  kill: procedure.input(target).mutation(({ ctx, input }) => ctx.cluster.kill(input)),
  pause: procedure.input(target).mutation(({ ctx, input }) => ctx.cluster.pause(input)),
  resume: procedure.input(target).mutation(({ ctx, input }) => ctx.cluster.resume(input)),
  restart: procedure.input(target).mutation(({ ctx, input }) => ctx.cluster.restart(input)),
  wipe: procedure
    .input(z.object({ node: nodeName }))
    .mutation(({ ctx, input }) => ctx.cluster.wipe(input.node)),
  config: procedure.query(async ({ ctx }) => inForceToWire(await ctx.ansConfig.get())),
  setConfig: procedure
    .input(ansConfigInput)
    .mutation(async ({ ctx, input }) => inForceToWire(await ctx.ansConfig.set(changeOf(input)))),
  down: procedure.mutation(({ ctx }) => ctx.down()),
})

export type ControlRouter = typeof controlRouter
