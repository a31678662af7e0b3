/** The wallet in React: coin, transactions and offers, read again after each write of the hooks. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { QuorumscanError } from '../errors.ts'
import {
  balanceQuery,
  offersQuery,
  transactionsQuery,
  type WalletQuery,
  type WalletQueryOptions,
} from '../wallet/queries.ts'
import type { Balance, Contract, Transaction, Wallet } from '../wallet/wallet.ts'

/** Options of the hooks of the wallet. */
export type UseWalletOptions = WalletQueryOptions & {
  /** `wallet` of `createValidator`. */
  readonly wallet: Wallet
}

/** @example const { data } = useBalance({ wallet: validator.wallet }); data?.effectiveUnlockedQty */
export function useBalance(options: UseWalletOptions): UseQueryResult<Balance, QuorumscanError> {
  const { wallet, ...query } = options
  return useWallet(balanceQuery(wallet, query))
}

/** The newest transactions, newest first. @param options.limit - Default 20. */
export function useTransactions(
  options: UseWalletOptions & { readonly limit?: number },
): UseQueryResult<readonly Transaction[], QuorumscanError> {
  const { wallet, ...query } = options
  return useWallet(transactionsQuery(wallet, query))
}

/** Open offers to the user and of the user. */
export function useOffers(
  options: UseWalletOptions,
): UseQueryResult<readonly Contract[], QuorumscanError> {
  const { wallet, ...query } = options
  return useWallet(offersQuery(wallet, query))
}

function useWallet<Data>(query: WalletQuery<Data>): UseQueryResult<Data, QuorumscanError> {
  return useQuery<Data, QuorumscanError>({ ...query, retry: false })
}
