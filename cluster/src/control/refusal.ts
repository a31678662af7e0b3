/** Errors for a person on their way through tRPC: by its codes, with their sentence. */

import { CommandError, messageOf, SilentError, UsageError } from '@quorumscan/runtime'
import { TRPCError } from '@trpc/server'
import { ZodError } from 'zod'

/** What the codes of tRPC stand for here; anything else that is refused is a CommandError. */
export const CODES = { usage: 'BAD_REQUEST', silent: 'TIMEOUT', other: 'CONFLICT' } as const

/** The error as it is told: of a bug its first line, and never what it was made of. */
export function refusalOf({ code, cause, message }: TRPCError): TRPCError {
  if (cause instanceof UsageError || cause instanceof ZodError)
    return new TRPCError({ code: CODES.usage, message: messageOf(cause) })
  if (cause instanceof SilentError) return new TRPCError({ code: CODES.silent, message })
  if (cause instanceof CommandError) return new TRPCError({ code: CODES.other, message })
  return new TRPCError({ code, message: messageOf(cause ?? message), cause })
}
