import type { JobDefinition, WalletDeps } from './job.ts'
import { expireOffer } from './wallet/expire-offer.ts'
import { expireOwnPayment } from './wallet/expire-payment.ts'
import { renewSubscription } from './wallet/renew-subscription.ts'

/** What every validator runs for the parties that it hosts. */
export const walletJobs: readonly JobDefinition<WalletDeps>[] = [
  renewSubscription,
  expireOwnPayment,
  expireOffer,
]
