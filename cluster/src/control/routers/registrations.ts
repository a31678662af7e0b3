/** Names registered as a user would, for whoever wants to see each step. */
import { NAME_LENGTH_MAX } from '@quorumscan/verifier'
import { z } from 'zod'
import { procedure, router } from '../trpc.ts'

const userName = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/, 'must be letters, digits and dashes, at most 32')

export const registrationsRouter = router({
  /** Returns the id at once; `list` shows the progress. The validator checks the name further: its refusal is shown. */
  start: procedure
    .input(z.object({ name: z.string().min(1).max(NAME_LENGTH_MAX), user: userName }))
    .mutation(({ ctx, input }) => ctx.registrations.start(input)),
  /** Newest first. */
  list: procedure.query(({ ctx }) => ctx.registrations.list()),
})
