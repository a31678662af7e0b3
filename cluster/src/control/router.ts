/** What the control plane can be asked, as a tRPC router. The CLI, tests and the console call it. */
import { askVotes, resolve, resolvedJson } from '@quorumscan/cli'
import { ansConfigInput } from '@quorumscan/operator'
import { ENTRY_NAME_LENGTH_MAX } from '@quorumscan/verifier'
import { z } from 'zod'
import { scenarioOf } from '../chaos/runs.ts'
import { scenario } from '../chaos/schedule.ts'
import { faultDurationMs, faultSpec, nodeName, part } from '../faults/fault-spec.ts'
import type { Feed } from '../watch/feed.ts'
import { viewNode } from '../watch/node-view.ts'
import { lookupInput, procedure, router } from './trpc.ts'

const CHAOS_MS = { min: 1000, max: 3_600_000 }
const id = z.object({ id: z.string().max(32) })
const target = z.strictObject({ node: nodeName, part })
const userName = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/, 'must be letters, digits and dashes, at most 32')

/** What a feed has from now on. A call without a signal ends with its connection only. */
function follow<T>(feed: Feed<T>, signal: AbortSignal | undefined): AsyncGenerator<T, void> {
  return feed.follow(signal ?? new AbortController().signal)
}

const breakBy = (kind: 'kill' | 'pause') =>
  procedure.input(target).mutation(async ({ ctx, input }) => {
    await ctx.cluster.faults.apply({ kind, ...input }, null)
  })

export const appRouter = router({
  /** The cluster as a whole: what it is like, how that changes, and its end. */
  cluster: router({
    status: procedure.query(({ ctx }) => ctx.live.status()),
    /** The state now, and then every other one. */
    watch: procedure.subscription(async function* ({ ctx, signal }) {
      yield ctx.live.status()
      yield* follow(ctx.live.statuses, signal)
    }),
    /** What has happened recently, oldest first. */
    events: procedure.query(({ ctx }) => ctx.live.events.recent()),
    watchEvents: procedure.subscription(async function* ({ ctx, signal }) {
      yield* follow(ctx.live.events, signal)
    }),
    repairLog: procedure
      .input(z.object({ isCutAllowed: z.boolean() }))
      .mutation(({ ctx, input }) => ctx.cluster.disks.repairLog(input)),
    down: procedure.mutation(({ ctx }) => ctx.down()),
  }),

  /** Single processes: looked at, started and stopped. What breaks them is a fault as well. */
  nodes: router({
    view: procedure
      .input(z.object({ node: nodeName }))
      .query(({ ctx, input }) => viewNode(ctx.cluster.servicesOf(input.node), ctx.reading.genesis)),
    kill: breakBy('kill'),
    pause: breakBy('pause'),
    resume: procedure.input(target).mutation(({ ctx, input }) => ctx.cluster.faults.resume(input)),
    restart: procedure
      .input(target)
      .mutation(({ ctx, input }) => ctx.cluster.faults.restart(input)),
    prune: procedure
      .input(z.object({ node: nodeName, to: z.number().int().min(1) }))
      .mutation(({ ctx, input }) => ctx.cluster.prune(input)),
    wipe: procedure
      .input(z.object({ node: nodeName, disk: z.boolean().default(false) }))
      .mutation(({ ctx, input: { node, disk } }) =>
        disk ? ctx.cluster.disks.wipeDisk(node) : ctx.cluster.disks.wipe(node),
      ),
  }),

  /** Begun, listed while in force, healed. */
  faults: router({
    list: procedure.query(({ ctx }) => ctx.cluster.faults.active()),
    inject: procedure
      .input(z.object({ fault: faultSpec, durationMs: faultDurationMs.default(null) }))
      .mutation(({ ctx, input }) => ctx.cluster.faults.apply(input.fault, input.durationMs)),
    /** Nothing selected: all. */
    heal: procedure
      .input(z.object({ id: z.string().max(32), node: nodeName }).partial())
      .mutation(({ ctx, input: { id, node } }) =>
        ctx.cluster.faults.heal({
          ...(id !== undefined && { id }),
          ...(node !== undefined && { node }),
        }),
      ),
  }),

  /** The rules of the name service, which the operators change together. */
  names: router({
    config: procedure.query(({ ctx }) => ctx.ansConfig.get()),
    setConfig: procedure
      .input(ansConfigInput)
      .mutation(({ ctx, input }) => ctx.ansConfig.set(input)),
  }),

  /** Lookups made for those who watch: what proves one, what nodes vote, and the steady one that is measured. */
  lookups: router({
    /** Proven by one node: outcome, answer, and the document that proves it. As text, which is kept as it is. */
    resolve: procedure
      .input(lookupInput)
      .query(async ({ ctx, input }) =>
        JSON.stringify(resolvedJson(await resolve({ ...input, ...ctx.reading }))),
      ),
    /** What each node votes, as the scan proxy heard it. */
    votes: procedure.input(lookupInput).query(({ ctx, input }) => {
      const validatorUrl = ctx.cluster.status().validator.url
      return askVotes({ ...input, validatorUrl })
    }),
    /** The measured lookups of the last minutes, oldest first. */
    samples: procedure.query(({ ctx }) => ctx.live.samples?.recent() ?? []),
    watchSamples: procedure.subscription(async function* ({ ctx, signal }) {
      if (ctx.live.samples !== null) yield* follow(ctx.live.samples, signal)
    }),
  }),

  /** The automation of every process: what waits, what failed recently, and trying it again. */
  jobs: router({
    /** Null for a process that does not answer now. */
    list: procedure.query(({ ctx }) => ctx.cluster.jobs()),
    retry: procedure
      .input(z.object({ node: nodeName, job: z.string().max(64), contractId: z.string().max(200) }))
      .mutation(({ ctx, input }) => ctx.cluster.retryJob(input)),
  }),

  /** Chaos runs on the running cluster. */
  chaos: router({
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
          durationMs: z.number().int().min(CHAOS_MS.min).max(CHAOS_MS.max),
          /** `f`: at most f nodes faulty at once. `beyond-f`: up to 2f. */
          budget: z.enum(['f', 'beyond-f']).default('f'),
          /** Whether a verdict may rest on rules that nothing put to the test; else it is inconclusive then. */
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
      yield* follow(ctx.chaos.progress, signal)
    }),
  }),

  /** Names registered as a user would, each step to be seen. */
  registrations: router({
    /** Returns the id at once; `list` shows the progress. The validator checks the name further: its refusal is shown. */
    start: procedure
      .input(z.object({ name: z.string().min(1).max(ENTRY_NAME_LENGTH_MAX), user: userName }))
      .mutation(({ ctx, input }) => ctx.registrations.start(input)),
    /** Newest first. */
    list: procedure.query(({ ctx }) => ctx.registrations.list()),
  }),
})

/** The only way into the control plane; its clients take their types from here. */
export type AppRouter = typeof appRouter
