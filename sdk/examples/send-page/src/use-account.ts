import { formatAmount, type OwnEntry, type Transaction } from '@quorumscan/sdk'
import { useQuery } from '@tanstack/react-query'
import { user, validator } from './wallet.ts'

/** The key of everything that a write of the wallet changes. */
export const WALLET = ['wallet', user]
const TRANSACTIONS_SHOWN = 8
const REFRESH_MS = 3000

export type Account = {
  readonly party: string
  readonly coin: string
  readonly entries: readonly OwnEntry[]
  /** Newest first. */
  readonly transactions: readonly Transaction[]
}

/** Registers the user at the first call, which gives it a party. */
export function useAccount() {
  return useQuery({
    queryKey: WALLET,
    refetchInterval: REFRESH_MS,
    queryFn: async ({ signal }): Promise<Account> => {
      const { wallet, names } = validator
      const { partyId } = await wallet.status({ signal })
      const { partyId: party } = partyId === '' ? await wallet.register({ signal }) : { partyId }
      const transactions: Transaction[] = []
      const newest = wallet.transactions({ pageSize: TRANSACTIONS_SHOWN, signal })
      for await (const item of newest) if (transactions.push(item) === TRANSACTIONS_SHOWN) break
      const { effectiveUnlockedQty } = await wallet.balance({ signal })
      const coin = formatAmount(effectiveUnlockedQty)
      return { party, coin, entries: await names.list({ signal }), transactions }
    },
  })
}
