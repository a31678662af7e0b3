/** Names registered as a user would, for whoever wants to see each step. */
import { z } from 'zod'
import { procedure, router } from '../trpc.ts'

/** D-17; the validator checks the rest, and its refusal is worth seeing. */
const NAME_LENGTH_MAX = 60
const userName = z.string().regex(/^[a-z0-9-]{1,32}$/, 'letters, digits and dashes, at most 32')

export const registrationsRouter = router({
  /** Returns the id at once; `list` shows how it goes on. */
  start: procedure
    .input(z.object({ name: z.string().min(1).max(NAME_LENGTH_MAX), user: userName }))
    .mutation(({ ctx, input }) => ctx.registrations.start(input)),
  /** Newest first. */
  list: procedure.query(({ ctx }) => ctx.registrations.list()),
})
