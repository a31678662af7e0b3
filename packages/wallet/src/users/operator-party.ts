/** The validator's own party, which is allocated at the first start. */
import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import type { Clock } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import type { Logger } from '@quorumscan/runtime'
import type { KeptUsers } from './kept-users.ts'
import { newUser, type RegistrationDeps, register } from './registration.ts'

/** Between tries, e.g. while the validator catches up with the log. */
export const OPERATOR_RETRY_MS = 500

/** Tries until the operator is registered, true, or the signal aborts, false. */
export async function registerOperator(
  deps: RegistrationDeps,
  options: {
    readonly begin: KeptUsers['begin']
    /** @throws {ScanError} While the replica is not live. */
    readonly assertLive: () => void
    readonly clock: Clock
    readonly logger: Logger
    readonly signal: AbortSignal
  },
): Promise<boolean> {
  const { clock, logger, signal } = options
  /** What the log has already: every failure is reported when it begins, and not at every try. */
  let reported: string | null = null
  const report = (error: unknown): void => {
    const what = isScanError(error) ? error.code : String(error)
    if (what === reported) return
    reported = what
    // Part of a start; `/readyz` says so.
    if (isScanError(error, 'NOT_READY'))
      logger.info({ err: error }, 'the operator is not registered yet')
    else if (isScanError(error, 'USERS_LOST')) logger.fatal({ err: error }, 'the users are lost')
    else logger.warn({ err: error }, 'the operator cannot be registered; the validator tries again')
  }
  while (!signal.aborted) {
    try {
      options.assertLive()
      await options.begin()
      // May do everything before there is any party. Made once: a right that was taken away stays away.
      const user = newUser(FIRST_ADMIN_USER, null)
      await deps.users.insert({ user, rights: [{ kind: 'ParticipantAdmin' }] })
      await register(deps, FIRST_ADMIN_USER, signal)
      return true
    } catch (error) {
      if (signal.aborted) break
      report(error)
      await clock.delay(OPERATOR_RETRY_MS, signal).catch(() => {}) // Aborted: the loop ends.
    }
  }
  return false
}
