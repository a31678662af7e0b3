/** Lookups made for whoever watches: one with every node's vote, and the steady one that is measured. */
import { z } from 'zod'
import { resolve, resolvedJson } from '../../cli/resolve.ts'
import { procedure, router } from '../trpc.ts'

/** Of a name or a party (D-30). */
const SUBJECT_LENGTH_MAX = 255

export const lookupsRouter = router({
  /** By the reader itself, at the nodes themselves: outcome, answer and the vote of each node. */
  explain: procedure
    .input(
      z.object({
        subject: z.string().min(1).max(SUBJECT_LENGTH_MAX),
        quorum: z.string().max(8).default('weak'),
      }),
    )
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
