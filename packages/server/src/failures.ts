/**
 * What was refused or failed: counted by its code, and a line of the log under the id of its request, by which
 * whoever was refused can ask an operator why.
 */
import type { Clock } from '@quorumscan/base'
import { catalogue, LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import type { Metrics } from '@quorumscan/runtime'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { Client } from './client.ts'
import { toScanError } from './errors.ts'

/** Of each level, a second: enough for a person to see what goes on, and no client can fill the disk with it. */
const LINES_MAX = 10
const MS_PER_SECOND = 1000
/** Of a path: names and parties are shorter. */
const PATH_CHARACTERS_MAX = 256
/** The category of the ledger interface's errors that are nobody's but ours. */
const OURS = 4

export type Failures = {
  /** Whatever was thrown. `request_id` where the logger does not have it by itself. */
  note(
    thrown: unknown,
    request: {
      readonly log: FastifyBaseLogger
      readonly method: string | undefined
      readonly url: string | undefined
      readonly request_id?: string
      /** Null or undefined before it is known whose it is. */
      readonly client?: Client | null
      readonly routeOptions?: FastifyRequest['routeOptions']
    },
  ): void
}

export function createFailures(options: {
  readonly metrics: Metrics | undefined
  readonly clock: Clock
}): Failures {
  const count = options.metrics?.counted({
    name: 'errors_total',
    help: 'Requests that were refused or failed, by error code.',
    labels: ['code'],
    known: Object.keys(catalogue).map((code) => [code]),
  })
  const hasRoom = {
    error: createWindow(options),
    warn: createWindow(options),
    info: createWindow(options),
  }
  return {
    note(thrown, { log, method, url, request_id, client, routeOptions }) {
      const { error, code, status, isOurs } = judge(thrown)
      const isProbe = routeOptions?.config?.route?.cost === 0
      count?.(code)
      // That something is not there is an answer like any other, and a probe asks again and again.
      if (status === 404 || isProbe) return
      const { cause } = error
      const level = isOurs ? 'error' : cause !== undefined && status >= 500 ? 'warn' : 'info'
      const room = hasRoom[level]()
      if (room === null) return
      const path = url?.split('?', 1)[0]?.slice(0, PATH_CHARACTERS_MAX)
      // Where something is to be mended, from where it came; what the caller did needs no more than why.
      const why =
        level === 'info'
          ? cause instanceof Error
            ? { reason: cause.message }
            : {}
          : { err: cause ?? error }
      const line = { request_id, code, status, method, path, client: client?.key }
      log[level]({ ...line, ...why, ...room }, error.message)
    },
  }
}

function judge(thrown: unknown) {
  if (thrown instanceof LedgerDecodeError)
    return { error: thrown, code: 'INVALID_ARGUMENT', status: 400, isOurs: false }
  if (thrown instanceof LedgerError) {
    const { httpStatus, category } = thrown.spec
    return { error: thrown, code: thrown.code, status: httpStatus, isOurs: category === OURS }
  }
  const error = toScanError(thrown)
  const { code } = error
  return { error, code, status: error.spec.httpStatus, isOurs: code === 'INTERNAL' }
}

/** Gives what a line says of those before it that were left out; null: it is to be left out itself. */
function createWindow({ clock }: { readonly clock: Clock }) {
  let beganMs = Number.NEGATIVE_INFINITY
  let lineCount = 0
  let leftOut = 0
  return (): { readonly leftOut?: number } | null => {
    const nowMs = clock.monotonicMs()
    if (nowMs - beganMs >= MS_PER_SECOND) {
      beganMs = nowMs
      lineCount = 0
    }
    if (lineCount >= LINES_MAX) {
      leftOut++
      return null
    }
    lineCount++
    const told = leftOut === 0 ? {} : { leftOut }
    leftOut = 0
    return told
  }
}
