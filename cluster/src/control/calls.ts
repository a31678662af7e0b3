/**
 * A call of the control plane: its caller, its log line, its errors through tRPC, and the context and the procedure
 * of the router.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { printable } from '@quorumscan/base'
import { CommandError, messageOf, NoReplyError, UsageError } from '@quorumscan/runtime'
import { initTRPC, TRPCError } from '@trpc/server'
import { ZodError, z } from 'zod'
import type { Parts } from './parts.ts'

/** The header with the name of the calling program. A caller with the token may send any text: it is for a person. */
export const CALLER_HEADER = 'x-quorumscan-caller'
const CALLER_LENGTH_MAX = 100
/** The longest input in a log line. A scenario of a chaos run is longer. */
const INPUT_LENGTH_MAX = 1000

/** The name that a caller gives itself, printable, or `console` for a browser. */
export function callerOf(headers: IncomingHttpHeaders): string {
  const name = headers[CALLER_HEADER]
  if (typeof name === 'string' && name.length <= CALLER_LENGTH_MAX) return printable(name)
  return headers.origin === undefined ? 'unknown' : 'console'
}

/** The input as JSON, cut to the length of a log line. */
export function truncatedInput(input: unknown): string {
  return (JSON.stringify(input) ?? '').slice(0, INPUT_LENGTH_MAX)
}

/** The meaning of tRPC's codes here. Any other refusal is a CommandError. */
export const CODES = { usage: 'BAD_REQUEST', silent: 'TIMEOUT', other: 'CONFLICT' } as const

/** The error as the client receives it: of a defect the first line, and never its cause. */
export function toClientError({ code, cause, message }: TRPCError): TRPCError {
  if (cause instanceof UsageError || cause instanceof ZodError)
    return new TRPCError({ code: CODES.usage, message: messageOf(cause) })
  if (cause instanceof NoReplyError) return new TRPCError({ code: CODES.silent, message })
  if (cause instanceof CommandError) return new TRPCError({ code: CODES.other, message })
  return new TRPCError({ code, message: messageOf(cause ?? message), cause })
}

/** The context of a call. */
export type ControlContext = Omit<Parts, typeof Symbol.asyncDispose> & {
  /** Stops the cluster, then the control plane itself. Returns when the cluster has stopped. */
  readonly down: () => Promise<void>
  /** The caller, as it names itself. */
  readonly caller: string
  /** Logs a mutation: its call, such as `nodes.kill`, and its outcome: `done`, or why it failed. */
  readonly logCall: (act: Readonly<Record<'caller' | 'call' | 'input' | 'outcome', string>>) => void
}

/** Errors leave the process without a stack trace. */
const trpc = initTRPC.context<ControlContext>().create({ isDev: false })

export const { router } = trpc

/** Errors for a person keep their sentence; a defect stays an internal error. Mutations are logged. */
export const procedure = trpc.procedure.use(async ({ next, type, path, ctx, getRawInput }) => {
  const result = await next()
  const refusal = result.ok ? null : toClientError(result.error)
  if (type === 'mutation') {
    const { caller } = ctx
    const outcome = refusal === null ? 'done' : refusal.message
    ctx.logCall({ caller, call: path, input: truncatedInput(await getRawInput()), outcome })
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
