/** What all routers of the control plane share. */
import type { Clock } from '@quorumscan/base'
import type { Genesis } from '@quorumscan/verifier'
import { initTRPC } from '@trpc/server'
import { z } from 'zod'
import type { ChaosRuns } from '../chaos/runs.ts'
import type { Cluster } from '../rig/cluster.ts'
import type { Live } from '../watch/live.ts'
import type { Registrations } from '../watch/registrations.ts'
import type { AnsConfigControl } from './ans-config.ts'
import { type Act, shownInput } from './caller.ts'
import { refusalOf } from './refusal.ts'

export type ControlContext = {
  readonly cluster: Cluster
  readonly ansConfig: AnsConfigControl
  readonly live: Live
  readonly chaos: ChaosRuns
  readonly registrations: Registrations
  /** What a lookup is made with. */
  readonly reading: {
    readonly genesis: Genesis
    readonly nodes: readonly { readonly name: string; readonly url: string }[]
    readonly clock: Clock
  }
  /** Stops the cluster, then the control plane itself. Returns when the cluster has stopped. */
  readonly down: () => Promise<void>
  /** Who calls, in its own words. */
  readonly caller: string
  /** Keeps what somebody did. */
  readonly note: (act: Act & { readonly input: string }) => void
}

/** Nobody is sent where in the program an error arose. */
const trpc = initTRPC.context<ControlContext>().create({ isDev: false })

export const { router } = trpc

/** Errors for a person keep their sentence; a bug stays an internal error. Who changed what is noted. */
export const procedure = trpc.procedure.use(async ({ next, type, path, ctx, getRawInput }) => {
  const result = await next()
  const refusal = result.ok ? null : refusalOf(result.error)
  if (type === 'mutation') {
    const { caller } = ctx
    const outcome = refusal === null ? 'done' : refusal.message
    ctx.note({ caller, call: path, input: shownInput(await getRawInput()), outcome })
  }
  if (refusal !== null) throw refusal
  return result
})

/** Of a name or a party (D-30). */
const SUBJECT_LENGTH_MAX = 255

/** What is looked up, and how many nodes must agree. A lone surrogate fits no address, and only ASCII a header. */
export const lookupInput = z.object({
  subject: z
    .string()
    .min(1)
    .max(SUBJECT_LENGTH_MAX)
    .regex(/^\P{Cs}*$/u, 'must be text in Unicode'),
  quorum: z
    .string()
    .regex(/^[a-z0-9]{1,8}$/, 'must be weak, strong, all or a number')
    .default('weak'),
})
