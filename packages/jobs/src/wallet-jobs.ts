import { expireOffer } from './definitions/wallet/expire-offer.ts'
import { expireOwnPayment } from './definitions/wallet/expire-payment.ts'
import { renewSubscription } from './definitions/wallet/renew-subscription.ts'
import type { JobDefinition, WalletDeps } from './job.ts'

/** What every validator runs for the parties that it hosts. */
export const walletJobs: readonly JobDefinition<WalletDeps>[] = [
  renewSubscription,
  expireOwnPayment,
  expireOffer,
]
