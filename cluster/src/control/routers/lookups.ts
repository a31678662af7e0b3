/** Lookups made for whoever watches: one with every node's vote, and the steady one that is measured. */
import { resolve, resolvedJson } from '../../cli/resolve.ts'
import { lookupInput, procedure, router } from '../trpc.ts'

export const lookupsRouter = router({
  /** By the reader itself, at the nodes themselves: outcome, answer and the vote of each node. */
  explain: procedure
    .input(lookupInput)
    .query(async ({ ctx, input }) =>
      resolvedJson(await resolve({ ...input, ...ctx.reading, explain: true })),
    ),
  /** The measured lookups of the last minutes, oldest first. */
  samples: procedure.query(({ ctx }) => ctx.live.samples?.recent() ?? []),
  watchSamples: procedure.subscription(async function* ({ ctx, signal }) {
    yield* ctx.live.samples?.follow(signal ?? never) ?? []
  }),
})

const never = new AbortController().signal
