import { formatAmount, type OwnEntry, type Transaction } from '@quorumscan/sdk'
import { useQuery } from '@tanstack/react-query'
import { validator, WALLET } from './wallet.ts'

const TRANSACTIONS_SHOWN = 8
const REFRESH_MS = 3000

export type Account = {
  readonly party: string
  readonly coin: string
  readonly entries: readonly OwnEntry[]
  /** Newest first. */
  readonly transactions: readonly Transaction[]
}

/** The user gets a party at the first call. */
export function useAccount() {
  return useQuery({
    queryKey: WALLET,
    refetchInterval: REFRESH_MS,
    queryFn: async ({ signal }): Promise<Account> => {
      const { wallet, names } = validator
      const party = await wallet.party({ signal })
      const transactions: Transaction[] = []
      const newest = wallet.transactions({ pageSize: TRANSACTIONS_SHOWN, signal })
      for await (const item of newest) if (transactions.push(item) === TRANSACTIONS_SHOWN) break
      const { effectiveUnlockedQty } = await wallet.balance({ signal })
      const coin = formatAmount(effectiveUnlockedQty)
      return { party, coin, entries: await names.list({ signal }), transactions }
    },
  })
}
