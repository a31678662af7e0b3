import { advanceRounds } from './definitions/advance-rounds.ts'
import { collectRenewalPayment } from './definitions/collect-renewal-payment.ts'
import { expireEntry } from './definitions/expire-entry.ts'
import { expirePayment } from './definitions/expire-payment.ts'
import { expireRequest } from './definitions/expire-request.ts'
import { expireSubscription } from './definitions/expire-subscription.ts'
import { resolveInitialPayment } from './definitions/resolve-initial-payment.ts'
import { terminateSubscription } from './definitions/terminate-subscription.ts'
import type { JobDefinition, OperatorDeps } from './job.ts'

/** What every super-validator runs. A new kind of work is one file and one line here. */
export const operatorJobs: readonly JobDefinition<OperatorDeps>[] = [
  resolveInitialPayment,
  expirePayment,
  collectRenewalPayment,
  expireEntry,
  expireSubscription,
  expireRequest,
  terminateSubscription,
  advanceRounds,
]
