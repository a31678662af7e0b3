/** The context and the procedure of the control plane's router. */
import { initTRPC } from '@trpc/server'
import { z } from 'zod'
import { type Act, refusalOf, shownInput } from './calls.ts'
import type { Parts } from './parts.ts'

/** The context of a call. */
export type ControlContext = Omit<Parts, typeof Symbol.asyncDispose> & {
  /** Stops the cluster, then the control plane itself. Returns when the cluster has stopped. */
  readonly down: () => Promise<void>
  /** The caller, as it names itself. */
  readonly caller: string
  /** Logs a mutation. */
  readonly note: (act: Act & { readonly input: string }) => void
}

/** Errors leave the process without a stack trace. */
const trpc = initTRPC.context<ControlContext>().create({ isDev: false })

export const { router } = trpc

/** Errors for a person keep their sentence; a defect stays an internal error. Mutations are logged. */
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

/** The longest name or party (D-30). */
const SUBJECT_LENGTH_MAX = 255

/** The subject of a lookup, and how many nodes must agree. No URL holds a lone surrogate, and a header only ASCII. */
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
