/** What the handlers of all route groups share. */
import type { validatorRoutes } from '@quorumscan/api'
import type { UserId } from '@quorumscan/model'
import type { Handlers } from '@quorumscan/server'
import { type WalletUser, walletUser } from '../users/wallet-user.ts'
import type { WalletDeps } from '../wallet/dependencies.ts'

/** The user that a token speaks for. */
export type Principal = { readonly userId: UserId }

type AllHandlers = Handlers<typeof validatorRoutes, Principal>

/** The handlers of some operations. */
export type HandlersOf<Operation extends keyof AllHandlers> = Pick<AllHandlers, Operation>

/** @throws {ScanError} NOT_READY while the replica is behind, WALLET_NOT_FOUND, PERMISSION_DENIED. */
export function walletOf(
  context: WalletDeps,
  request: { readonly user: Principal },
): Promise<WalletUser> {
  context.assertLive()
  return walletUser(context.store.users, request.user.userId)
}
