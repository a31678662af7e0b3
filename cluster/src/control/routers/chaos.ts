/** Chaos runs on the running cluster. */
import { z } from 'zod'
import { scenarioOf } from '../../chaos/runs.ts'
import { scenario } from '../../chaos/schedule.ts'
import { procedure, router } from '../trpc.ts'

const DURATION_MS = { min: 1000, max: 3_600_000 }
const id = z.object({ id: z.string().max(32) })

export const chaosRouter = router({
  list: procedure.query(({ ctx }) => ctx.chaos.list()),
  get: procedure.input(id).query(({ ctx, input }) => ctx.chaos.get(input.id)),
  /** The numbers of a run that is done; null before. */
  summary: procedure.input(id).query(({ ctx, input }) => ctx.chaos.summary(input.id)),
  /** The report as one HTML file. */
  report: procedure.input(id).query(({ ctx, input }) => ctx.chaos.report(input.id)),
  start: procedure
    .input(
      z.object({
        seed: z.string().min(1).max(64),
        durationMs: z.number().int().min(DURATION_MS.min).max(DURATION_MS.max),
        budget: z.enum(['f', 'beyond-f']).default('f'),
        allowsUnexercised: z.boolean().default(false),
      }),
    )
    .mutation(({ ctx, input }) => {
      const { nodes, ordering } = ctx.reading.genesis
      const nodeNames = nodes.map(({ name }) => name)
      return ctx.chaos.start(scenarioOf({ ...input, nodeNames, ordering: ordering.driver }))
    }),
  /** A run of given steps: a scenario file, a replay. */
  replay: procedure.input(scenario).mutation(({ ctx, input }) => ctx.chaos.start(input)),
  /** The same faults at the same times as in a run that is done. */
  repeat: procedure.input(id).mutation(({ ctx, input }) => ctx.chaos.repeat(input.id)),
  stop: procedure.input(id).mutation(({ ctx, input }) => ctx.chaos.stop(input.id)),
  /** Every step of every run, as it happens. */
  watch: procedure.subscription(async function* ({ ctx, signal }) {
    yield* ctx.chaos.progress.follow(signal ?? new AbortController().signal)
  }),
})
