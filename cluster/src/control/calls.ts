/** A call of the control plane: who makes it, what the log keeps of it, and how its errors travel through tRPC. */
import type { IncomingHttpHeaders } from 'node:http'
import { printable } from '@quorumscan/cli'
import { CommandError, messageOf, SilentError, UsageError } from '@quorumscan/runtime'
import { TRPCError } from '@trpc/server'
import { ZodError } from 'zod'

/** The header with the name of the calling program. A caller with the token may send any text: it is for a person. */
export const CALLER_HEADER = 'x-quorumscan-caller'
const CALLER_LENGTH_MAX = 100
/** Of the input in the log. A scenario of a chaos run is longer. */
const INPUT_LENGTH_MAX = 1000

/** The name that a caller gives itself, printable, or `console` for a browser. */
export function callerOf(headers: IncomingHttpHeaders): string {
  const name = headers[CALLER_HEADER]
  if (typeof name === 'string' && name.length <= CALLER_LENGTH_MAX) return printable(name)
  return headers.origin === undefined ? 'unknown' : 'console'
}

/** One mutation, such as `nodes.kill`, and its outcome: `done`, or why it failed. */
export type Act = { readonly caller: string; readonly call: string; readonly outcome: string }

/** The input as JSON, cut to the length of a log line. */
export function shownInput(input: unknown): string {
  return (JSON.stringify(input) ?? '').slice(0, INPUT_LENGTH_MAX)
}

/** The meaning of tRPC's codes here. Any other refusal is a CommandError. */
export const CODES = { usage: 'BAD_REQUEST', silent: 'TIMEOUT', other: 'CONFLICT' } as const

/** The error as the client receives it: of a defect the first line, and never its cause. */
export function refusalOf({ code, cause, message }: TRPCError): TRPCError {
  if (cause instanceof UsageError || cause instanceof ZodError)
    return new TRPCError({ code: CODES.usage, message: messageOf(cause) })
  if (cause instanceof SilentError) return new TRPCError({ code: CODES.silent, message })
  if (cause instanceof CommandError) return new TRPCError({ code: CODES.other, message })
  return new TRPCError({ code, message: messageOf(cause ?? message), cause })
}
