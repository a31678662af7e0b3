/** The API of the control plane as a tRPC router, for the CLI, tests and the console. */
import { askVotes, resolve, resolvedJson } from '@quorumscan/cli'
import { ansConfigInput } from '@quorumscan/operator'
import { ENTRY_NAME_LENGTH_MAX, memberSetOf } from '@quorumscan/verifier'
import { z } from 'zod'
import { faultDurationMs, faultSelection, faultSpec, nodeName, part } from '../faults/fault-spec.ts'
import { scenarioOf } from '../judge/chaos/runs.ts'
import { scenario } from '../judge/chaos/schedule.ts'
import type { Feed } from '../judge/watch/feed.ts'
import { viewNode } from '../judge/watch/node-view.ts'
import { type ControlContext, lookupInput, procedure, router } from './calls.ts'

const CHAOS_MS = { min: 1000, max: 3_600_000 }
const id = z.object({ id: z.string().max(32) })
const target = z.strictObject({ node: nodeName, part })
const userName = z
  .string()
  .regex(/^[a-z0-9-]{1,32}$/, 'must be letters, digits and dashes, at most 32')

/** The items of a feed from now on. A call without a signal ends only with its connection. */
const subscriptionTo = <T>(feedOf: (context: ControlContext) => Feed<T>) =>
  procedure.subscription(({ ctx, signal }) => feedOf(ctx).follow(signal))

const applyFault = (kind: 'kill' | 'pause') =>
  procedure.input(target).mutation(async ({ ctx, input }) => {
    await ctx.cluster.faults.apply({ kind, ...input }, null)
  })

export const appRouter = router({
  /** The cluster as a whole. */
  cluster: router({
    status: procedure.query(({ ctx }) => ctx.live.status()),
    /** The current status, then each changed one. */
    watch: procedure.subscription(async function* ({ ctx, signal }) {
      yield ctx.live.status()
      yield* ctx.live.statuses.follow(signal)
    }),
    /** Recent events, oldest first. */
    events: procedure.query(({ ctx }) => ctx.live.events.recent()),
    watchEvents: subscriptionTo(({ live }) => live.events),
    repairLog: procedure
      .input(z.object({ isCutAllowed: z.boolean() }))
      .mutation(({ ctx, input }) => ctx.cluster.disks.repairLog(input)),
    down: procedure.mutation(({ ctx }) => ctx.down()),
  }),

  /** Single processes. Kill and pause are faults as well. */
  nodes: router({
    view: procedure
      .input(z.object({ node: nodeName }))
      .query(({ ctx, input }) => viewNode(ctx.cluster.servicesOf(input.node), ctx.reading.genesis)),
    kill: applyFault('kill'),
    pause: applyFault('pause'),
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

  /** Faults. */
  faults: router({
    list: procedure.query(({ ctx }) => ctx.cluster.faults.active()),
    inject: procedure
      .input(z.object({ fault: faultSpec, durationMs: faultDurationMs.default(null) }))
      .mutation(({ ctx, input }) => ctx.cluster.faults.apply(input.fault, input.durationMs)),
    /** Without a selection: all faults. */
    heal: procedure
      .input(faultSelection)
      .mutation(({ ctx, input }) => ctx.cluster.faults.heal(input)),
  }),

  /** The rules of the name service, which a quorum of operators changes. */
  names: router({
    config: procedure.query(({ ctx }) => ctx.ansConfig.get()),
    setConfig: procedure
      .input(ansConfigInput)
      .mutation(({ ctx, input }) => ctx.ansConfig.set(input)),
  }),

  /** Lookups for the console: by proofs, by votes, and the measured ones. */
  lookups: router({
    /** By a proof of one node: outcome, answer, and the proving document. As text, so that its bytes stay as they are. */
    resolve: procedure
      .input(lookupInput)
      .query(async ({ ctx, input }) =>
        JSON.stringify(resolvedJson(await resolve({ ...input, ...ctx.reading }))),
      ),
    /** The vote of each node, as the scan proxy received it. */
    votes: procedure.input(lookupInput).query(({ ctx, input }) => {
      const validatorUrl = ctx.cluster.status().validator.url
      return askVotes({ ...input, validatorUrl })
    }),
    /** The measured lookups of the last minutes, oldest first. */
    samples: procedure.query(({ ctx }) => ctx.live.samples.recent()),
    watchSamples: subscriptionTo(({ live }) => live.samples),
  }),

  /** The jobs of every process: pending ones, and dropped ones, which can be retried. */
  jobs: router({
    /** Null for a process that does not answer. */
    list: procedure.query(({ ctx }) => ctx.cluster.jobs()),
    retry: procedure
      .input(z.object({ node: nodeName, job: z.string().max(64), contractId: z.string().max(200) }))
      .mutation(({ ctx, input }) => ctx.cluster.retryJob(input)),
  }),

  /** Chaos runs on the running cluster. */
  chaos: router({
    list: procedure.query(({ ctx }) => ctx.chaos.list()),
    get: procedure.input(id).query(({ ctx, input }) => ctx.chaos.get(input.id)),
    /** The numbers of a finished run; null before. */
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
          /** Whether a verdict is allowed without rules that the run never tested; otherwise it is inconclusive. */
          allowsUnexercised: z.boolean().default(false),
        }),
      )
      .mutation(({ ctx, input }) => {
        const { genesis } = ctx.reading
        const nodeNames = memberSetOf(genesis).members.map(({ name }) => name)
        const { driver } = genesis.ordering
        return ctx.chaos.start(scenarioOf({ ...input, nodeNames, ordering: driver }))
      }),
    /** A run with given steps, e.g. of a scenario file. */
    replay: procedure.input(scenario).mutation(({ ctx, input }) => ctx.chaos.start(input)),
    /** A run with the faults and times of a finished one. */
    repeat: procedure.input(id).mutation(({ ctx, input }) => ctx.chaos.repeat(input.id)),
    stop: procedure.input(id).mutation(({ ctx, input }) => ctx.chaos.stop(input.id)),
    /** The state of every run, at each step. */
    watch: subscriptionTo(({ chaos }) => chaos.progress),
  }),

  /** Registrations with their steps. */
  registrations: router({
    /** Returns the id at once; `list` shows the progress. The validator checks the name further. */
    start: procedure
      .input(z.object({ name: z.string().min(1).max(ENTRY_NAME_LENGTH_MAX), user: userName }))
      .mutation(({ ctx, input }) => ctx.registrations.start(input)),
    /** Newest first. */
    list: procedure.query(({ ctx }) => ctx.registrations.list()),
  }),
})

/** The only way into the control plane; its clients take their types from here. */
export type AppRouter = typeof appRouter
