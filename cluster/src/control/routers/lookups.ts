/** Lookups made for whoever watches: what proves one, what nodes vote, and the steady one that is measured. */
import { askVotes, resolve, resolvedJson } from '@quorumscan/cli'
import { lookupInput, procedure, router } from '../trpc.ts'

export const lookupsRouter = router({
  /** Proven by one node: outcome, answer, and the document that proves it. As text, which is kept as it is. */
  resolve: procedure
    .input(lookupInput)
    .query(async ({ ctx, input }) =>
      JSON.stringify(resolvedJson(await resolve({ ...input, ...ctx.reading }))),
    ),
  /** What each node votes, as the scan proxy heard it. */
  votes: procedure
    .input(lookupInput)
    .query(({ ctx, input }) =>
      askVotes({ ...input, validatorUrl: ctx.cluster.status().validator.url }),
    ),
  /** The measured lookups of the last minutes, oldest first. */
  samples: procedure.query(({ ctx }) => ctx.live.samples?.recent() ?? []),
  watchSamples: procedure.subscription(async function* ({ ctx, signal }) {
    yield* ctx.live.samples?.follow(signal ?? never) ?? []
  }),
})

const never = new AbortController().signal
