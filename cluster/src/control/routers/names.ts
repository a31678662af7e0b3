/** The rules of the name service, which the operators change together. */
import { ansConfigInput, changeOf, inForceToWire } from '@quorumscan/operator'
import { procedure, router } from '../trpc.ts'

export const namesRouter = router({
  config: procedure.query(async ({ ctx }) => inForceToWire(await ctx.ansConfig.get())),
  setConfig: procedure
    .input(ansConfigInput)
    .mutation(async ({ ctx, input }) => inForceToWire(await ctx.ansConfig.set(changeOf(input)))),
})
