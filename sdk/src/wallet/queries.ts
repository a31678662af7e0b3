/**
 * Reads of the wallet as options of TanStack Query: for `useQuery`, and for prefetching and rendering on a server. This
 * module needs neither React nor TanStack Query.
 */
import { assertOptions, isMs, isText, isWhole } from '../platform/options.ts'
import { KEY, numberOf } from '../platform/query-keys.ts'
import type { Balance, Contract, Transaction, Wallet } from './wallet.ts'

/** Options of a query of the wallet. */
export type WalletQueryOptions = {
  /**
   * The name of user and network in the key of the cache. Give the same one on the server and in the browser, so that the
   * browser finds what the server has read. Default: one of this load of the page.
   */
  readonly scope?: string
  /** Time between reads while it is shown, in ms. Default 5000. */
  readonly refetchInterval?: number
}

/** What `useQuery`, `prefetchQuery` and `fetchQuery` take. */
export type WalletQuery<Data> = {
  readonly queryKey: readonly unknown[]
  /** Reads from the validator. It rejects with a `QuorumscanError`. */
  readonly queryFn: (context: { readonly signal?: AbortSignal | undefined }) => Promise<Data>
  readonly refetchInterval: number
  /** It also runs if the device reports to be offline, since the validator may be on it. */
  readonly networkMode: 'always'
}

const QUERY_CHECKS = { scope: isText, refetchInterval: isMs } as const
const REFETCH_MS = 5000
const TRANSACTIONS = 20

/**
 * Spendable and locked coin.
 *
 * @example await queryClient.prefetchQuery(balanceQuery(validator.wallet, { scope: 'alice@mainnet' }))
 */
export function balanceQuery(
  wallet: Pick<Wallet, 'balance'>,
  options: WalletQueryOptions = {},
): WalletQuery<Balance> {
  assertOptions('balanceQuery', options, QUERY_CHECKS)
  return query(wallet, ['balance'], options, (call) => wallet.balance(call))
}

/** The newest transactions, newest first. @param options.limit - How many, from 1 to 1000. Default 20. */
export function transactionsQuery(
  wallet: Pick<Wallet, 'transactions'>,
  options: WalletQueryOptions & { readonly limit?: number } = {},
): WalletQuery<readonly Transaction[]> {
  assertOptions('transactionsQuery', options, { ...QUERY_CHECKS, limit: isWhole(1, 1000) })
  const { limit = TRANSACTIONS } = options
  return query(wallet, ['transactions', limit], options, async (call) => {
    const newest: Transaction[] = []
    for await (const item of wallet.transactions({ ...call, pageSize: limit }))
      if (newest.push(item) === limit) break
    return newest
  })
}

/** Open offers of coin, to the user and of the user. `payments` answers them. */
export function offersQuery(
  wallet: Pick<Wallet, 'transfers'>,
  options: WalletQueryOptions = {},
): WalletQuery<readonly Contract[]> {
  assertOptions('offersQuery', options, QUERY_CHECKS)
  return query(wallet, ['offers'], options, (call) => wallet.transfers(call))
}

function query<Data>(
  wallet: object,
  key: readonly unknown[],
  { scope, refetchInterval = REFETCH_MS }: WalletQueryOptions,
  read: (call: { readonly signal?: AbortSignal | undefined }) => Promise<Data>,
): WalletQuery<Data> {
  return {
    queryKey: [KEY, scope ?? numberOf(wallet), ...key],
    queryFn: ({ signal }) => read({ signal }),
    refetchInterval,
    networkMode: 'always',
  }
}
