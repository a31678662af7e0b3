/** Reads of the wallet as options of TanStack Query. */
import { dehydrate, hydrate, QueryClient } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { balanceQuery, offersQuery, transactionsQuery } from './queries.ts'
import type { Balance, Contract, Transaction } from './wallet.ts'

const balance = { effectiveUnlockedQty: '2.5000000000' } as Balance
const wallet = (coin: Balance = balance) => ({
  balance: async () => coin,
  async *transactions() {
    for (let count = 0; ; count++) yield { eventId: String(count) } as Transaction
  },
  transfers: async () => [{ contractId: 'offer' }] as unknown as readonly Contract[],
})

it('reads coin, as many transactions as are wanted, and offers', async () => {
  const client = new QueryClient()
  expect(await client.fetchQuery(balanceQuery(wallet()))).toEqual(balance)
  const newest = await client.fetchQuery(transactionsQuery(wallet(), { limit: 2 }))
  expect(newest.map(({ eventId }) => eventId)).toEqual(['0', '1'])
  expect(await client.fetchQuery(offersQuery(wallet()))).toEqual([{ contractId: 'offer' }])
})

it('what a server has read is found in the browser by the same scope, and by no other', async () => {
  const server = new QueryClient()
  await server.prefetchQuery(balanceQuery(wallet(), { scope: 'alice' }))
  const browser = new QueryClient()
  hydrate(browser, dehydrate(server))
  const cached = (scope: string) => browser.getQueryData(balanceQuery(wallet(), { scope }).queryKey)
  expect([cached('alice'), cached('bob')]).toEqual([balance, undefined])
})

it('without a scope two wallets share nothing', async () => {
  const client = new QueryClient()
  const [one, other] = [wallet(), wallet()]
  await client.prefetchQuery(balanceQuery(one))
  expect(client.getQueryData(balanceQuery(one).queryKey)).toEqual(balance)
  expect(client.getQueryData(balanceQuery(other).queryKey)).toBeUndefined()
})
