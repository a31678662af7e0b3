/** Errors as servers state them: D-6, and those of the ledger interface. */
import { membersOf } from '@quorumscan/verifier'
import { type ErrorFacts, failure, type QuorumscanError } from '../errors.ts'
import { type ServerErrorCode, serverErrorCodes } from '../generated/error-codes.ts'
import { renameMembers } from '../platform/camel.ts'
import { parseJson } from '../platform/parse-json.ts'

/** The error that the ledger interface sends at the end of a stream; null: the text is another one. */
export function ledgerErrorOf(text: string): QuorumscanError | null {
  return errorIn(text, { definite: true })
}

/** A `retry-after` in milliseconds; null unless it is a whole number of seconds. */
export function retryAfter(text: string | null): number | null {
  return text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : null
}

/**
 * The error in a body: of D-6, or of the ledger interface (docs/upstream.md §L7.1); null: neither.
 *
 * @param facts.definite - The request certainly had no effect, for any body.
 */
export function errorIn(
  text: string,
  facts: Pick<ErrorFacts, 'status' | 'retryAfterMs' | 'definite'>,
) {
  const { code, error, cause, ...body } = membersOf(parseJson(text))
  const status = facts.status ?? 400 // The end of a stream has none.
  if (typeof code !== 'string') return null
  const isKnown = (serverErrorCodes as readonly string[]).includes(code)
  /** With the code in the details, if only a newer server knows it. */
  const stated = (message: string, sent: unknown, more: Omit<ErrorFacts, 'code'>) => {
    const details = renameMembers(sent ?? null) as QuorumscanError['details']
    return failure(isKnown ? (code as ServerErrorCode) : 'UNKNOWN_ERROR', message, {
      ...facts,
      ...more,
      definite: facts.definite || more.definite,
      details: isKnown ? details : { ...details, code },
    })
  }
  if (typeof cause === 'string') {
    const { definiteAnswer, retryInfo, correlationId, traceId } = body
    return stated(cause, body['context'], {
      // Without a `definiteAnswer`: a refused request was not submitted.
      definite: (definiteAnswer as boolean | null) ?? status < 500,
      retryable: typeof retryInfo === 'string' || status === 503,
      requestId: String(correlationId ?? traceId ?? ''),
    })
  }
  const { definite, retryable } = body
  const isOne = typeof error === 'string' && typeof definite === 'boolean'
  if (!isOne || typeof retryable !== 'boolean') return null
  const requestId = String(body['request_id'])
  return stated(ownWords(error), body['details'], { definite, retryable, requestId })
}

/** The message with members as callers of the SDK name them: `receiver`, not `body.receiver_party_id`. */
function ownWords(message: string): string {
  return message.replace(/\bbody\.([\w.]+)/g, (_, path: string) =>
    path
      .replace('receiver_party_id', 'receiver')
      .replace(/_([a-z])/g, (__, letter: string) => letter.toUpperCase()),
  )
}
