/** Submits commands: at most one effect for a command id, and an outcome that distinguishes what is not known. */

import { failure, isQuorumscanError, type QuorumscanError } from '../errors.ts'
import type { components } from '../generated/ledger.ts'
import { isSubmitAndWaitResponse } from '../generated/ledger-checks.ts'
import type { Http } from '../http/http.ts'
import type { Clock } from '../platform/clock.ts'
import { doubtful } from '../platform/deadline.ts'
import { offlineError } from '../platform/online.ts'
import { randomId } from '../platform/random.ts'
import { findUpdate, formatOf, readLedgerEnd } from './updates.ts'

type Schemas = components['schemas']

/** Commands to submit, as the ledger interface takes them: `actAs`, `commands`, and more. */
export type Submission = Omit<Schemas['JsCommands'], 'commandId' | 'submissionId'> & {
  /** Ignored, so that commands of other clients can be passed: each attempt has an id of its own. */
  readonly submissionId?: Schemas['JsCommands']['submissionId']
  /**
   * Together with user and `actAs` it is the change ID: commands with the same change ID take effect once. Store it
   * durably to be able to submit again after a crash. Default: a new one.
   */
  readonly commandId?: string
}

/** The outcome of a submission. */
export type CommandOutcome =
  /** It took effect, at this offset. `updateId` is null if an earlier call submitted it and the update is pruned. */
  | {
      readonly kind: 'committed'
      readonly commandId: string
      readonly offset: number
      readonly updateId: string | null
      /** A submission with this command id had taken effect before. */
      readonly wasDuplicate: boolean
    }
  /** It has no effect, and never will. */
  | { readonly kind: 'rejected'; readonly commandId: string; readonly error: QuorumscanError }
  /** It may or may not take effect. Submit again with the same `commandId` to find out. */
  | { readonly kind: 'unknown'; readonly commandId: string; readonly error: QuorumscanError }

/** Commands of the user. */
export interface Commands {
  /**
   * Submits and waits for the completion. After a lost answer it submits again with the same command id. Offline it sends
   * nothing, now or later: the outcome is `rejected`, or `unknown` with a command id of the caller.
   *
   * @param options.timeoutMs - For the whole call. Default 30 000.
   * @throws {QuorumscanError} Only before anything was submitted. @throws The signal's reason; if that is an error of the
   *   SDK, after something was submitted, an indefinite error with the reason as `cause`.
   */
  submit(
    submission: Submission,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal | undefined },
  ): Promise<CommandOutcome>
}

const SUBMISSION_TIMEOUT_MS = 30_000
const PAUSE_MS = 500

export function createCommands(parts: {
  readonly http: Http
  readonly clock: Clock
  /** Of the ledger interface. */
  readonly url: string
}): Commands {
  const { http, clock, url } = parts
  return {
    async submit({ commandId: given, ...submission }, options = {}) {
      const commandId = given ?? randomId()
      const { signal, timeoutMs = SUBMISSION_TIMEOUT_MS } = options
      const endsAtMs = clock.monotonicMs() + timeoutMs

      const attempt = async () => {
        const request = {
          method: 'POST',
          path: '/v2/commands/submit-and-wait',
          body: { ...submission, commandId, submissionId: randomId() },
          timeoutMs: Math.max(1, endsAtMs - clock.monotonicMs()),
          signal,
        } as const
        try {
          const answer = await http.call(request, isSubmitAndWaitResponse)
          const { updateId, completionOffset: offset } = answer
          return { kind: 'committed', commandId, offset, updateId } as const
        } catch (error) {
          // The reason of the caller's signal is no answer, whatever it says of itself.
          if (signal?.aborted === true || !isQuorumscanError(error))
            throw signal?.aborted === true ? doubtful('The submission', signal.reason) : error
          return error
        }
      }
      /** Searches the submitter's transactions for the command id. Best effort: null proves nothing. */
      const findOwn = async (after: number) => {
        try {
          const end = await readLedgerEnd(http, signal)
          const range = { after, end, updateFormat: formatOf(submission.actAs), signal }
          return await findUpdate(http, range, (update) => {
            if (!('Transaction' in update)) return null
            const { updateId, offset, ...found } = update.Transaction.value
            return found.commandId === commandId ? { updateId, offset } : null
          })
        } catch (error) {
          if (!isQuorumscanError(error)) throw error
        }
        return null
      }

      /** A failure before anything else was sent by this call. An earlier call may have submitted the caller's id. */
      const failed = (error: QuorumscanError) =>
        given === undefined
          ? ({ kind: 'rejected', commandId, error } as const)
          : ({ kind: 'unknown', commandId, error: undecided(error) } as const)

      signal?.throwIfAborted()
      const offline = offlineError(url)
      if (offline !== null) return failed(offline)
      const before = await readLedgerEnd(http, signal)
      let lost: QuorumscanError | null = null
      for (;;) {
        const outcome = await attempt()
        if (!isQuorumscanError(outcome)) return { ...outcome, wasDuplicate: false }
        const prior = duplicateOf(outcome)
        if (prior !== null) {
          const updateId = (await findOwn(prior - 1))?.updateId ?? null
          const wasDuplicate = lost === null
          return { kind: 'committed', commandId, offset: prior, updateId, wasDuplicate }
        }
        const isInFlight = outcome.code === 'SUBMISSION_ALREADY_IN_FLIGHT'
        if (outcome.definite && !isInFlight && lost === null) {
          return isOfLedger(outcome)
            ? { kind: 'rejected', commandId, error: outcome }
            : failed(outcome)
        }
        // A refusal now proves nothing about the attempt before, which may itself have consumed the contract.
        lost ??= outcome
        const found = await findOwn(before)
        if (found !== null) return { kind: 'committed', commandId, ...found, wasDuplicate: false }
        if (clock.monotonicMs() + PAUSE_MS >= endsAtMs)
          return { kind: 'unknown', commandId, error: undecided(lost) }
        await clock.delay(PAUSE_MS, signal).catch((reason: unknown) => {
          throw doubtful('The submission', reason)
        })
      }
    },
  }
}

/** The error of a submission that may take effect: it is never definite. */
function undecided(error: QuorumscanError): QuorumscanError {
  if (!error.definite) return error
  const { code, message, name: _, cause = error, ...facts } = error
  return failure(code, message, { ...facts, definite: false, cause })
}

/** Refusals of the connection, the token and the load of the server say nothing about earlier submissions. */
const STATUSES_OF_SERVER = [401, 403, 408, 413, 429]

/** Whether the ledger refused the command. It looks for a duplicate first. */
function isOfLedger({ status }: QuorumscanError): boolean {
  return status !== null && status < 500 && !STATUSES_OF_SERVER.includes(status)
}

/** The offset at which the same change took effect before; null: another error. */
function duplicateOf(error: QuorumscanError): number | null {
  const offset = Number(error.details?.['completionOffset'])
  return error.code === 'DUPLICATE_COMMAND' && Number.isSafeInteger(offset) ? offset : null
}
