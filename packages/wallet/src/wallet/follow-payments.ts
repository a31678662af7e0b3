/** Records payments while no user pays, so that little of the log is unread when its history is pruned. */
import type { Clock } from '@quorumscan/base'
import { type Logger, repeat } from '@quorumscan/runtime'
import type { Payments } from './payments.ts'

const FOLLOW_MS = 60_000

/** Follows the log, and deletes what expired, until it is disposed of. */
export function followPayments(
  payments: Pick<Payments, 'catchUp' | 'forgetExpired'>,
  options: { readonly isLive: () => boolean; readonly clock: Clock; readonly logger: Logger },
): AsyncDisposable {
  const work = async (): Promise<void> => {
    if (!options.isLive()) return
    await payments.catchUp()
    await payments.forgetExpired()
  }
  return repeat(work, {
    clock: options.clock,
    everyMs: () => FOLLOW_MS,
    onError: (err) => options.logger.info({ err }, 'payments could not be recorded'),
  })
}
