/**
 * Refusals and failures: counted by code, and logged with the id of the request, by which an operator finds the reason
 * for a client.
 */

import type { Clock } from '@quorumscan/base'
import { catalogue, LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import { createRateLimitedLog, type Metrics } from '@quorumscan/runtime'
import { memberOf } from '@quorumscan/verifier'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { Client } from './client.ts'
import { toScanError } from './errors.ts'

/** Lines of each level in a second: enough for a person, and no client can fill the disk. */
const LINES_MAX = 10
/** Characters of a logged path: names and parties are shorter. */
const PATH_CHARACTERS_MAX = 256
/** The category of the ledger interface's errors that are defects of this process. */
const DEFECT_CATEGORY = 4

/** The request that failed. */
type Failed = {
  readonly id: string
  readonly log: FastifyBaseLogger
  readonly method: string | undefined
  readonly url: string | undefined
  /** Null or undefined before the client is known. */
  readonly client?: Client | null
  readonly routeOptions?: FastifyRequest['routeOptions']
}

export type Failures = ReturnType<typeof createFailures>

export function createFailures(metrics: Metrics | undefined, clock: Clock) {
  const count = metrics?.counted({
    name: 'errors_total',
    help: 'Requests that were refused or failed, by error code.',
    labels: ['code'],
    known: Object.keys(catalogue).map((code) => [code]),
  })
  const lines = createRateLimitedLog({ clock, perSubjectMs: 1000, linesMax: LINES_MAX })
  return {
    /** @param thrown - Any error. */
    note(thrown: unknown, request: Failed): void {
      const { id: request_id, log, method, url, client, routeOptions } = request
      const { error, code, status, isDefect } = classify(thrown)
      const isProbe = routeOptions?.config?.route?.cost === 0
      count?.(code)
      // A 404 is an ordinary answer, and probes repeat.
      if (status === 404 || isProbe) return
      const { cause } = error
      const level = isDefect ? 'error' : cause !== undefined && status >= 500 ? 'warn' : 'info'
      const path = url?.split('?', 1)[0]?.slice(0, PATH_CHARACTERS_MAX)
      // Of what an operator must repair, the stack; of what the caller did, the reason.
      const why =
        level === 'info' ? { reason: memberOf(cause, 'message') } : { err: cause ?? error }
      const line = { request_id, code, status, method, path, client: client?.key, ...why }
      lines.write(level, (suppressed) => log[level]({ ...line, ...suppressed }, error.message))
    },
  }
}

function classify(thrown: unknown) {
  if (thrown instanceof LedgerDecodeError)
    return { error: thrown, code: 'INVALID_ARGUMENT', status: 400, isDefect: false }
  if (thrown instanceof LedgerError) {
    const { code, spec } = thrown
    const isDefect = spec.category === DEFECT_CATEGORY
    return { error: thrown, code, status: spec.httpStatus, isDefect }
  }
  const error = toScanError(thrown)
  const { code } = error
  return { error, code, status: error.spec.httpStatus, isDefect: code === 'INTERNAL' }
}
