/** Pages that a server renders: what it has read is in the text, and the browser finds it without another read. */
import { dehydrate, hydrate, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement as h } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { fakeNames } from '../fakes.ts'
import { nameQuery, reverseQuery, searchQuery } from '../names/queries.ts'
import { systemClock } from '../platform/clock.ts'
import { useName, useReverse, useSearch } from '../react.ts'
import { balanceQuery, offersQuery, transactionsQuery } from '../wallet/queries.ts'
import type { Balance, Contract, Transaction, Wallet } from '../wallet/wallet.ts'
import { useBalance, useOffers, useTransactions } from './wallet-hooks.ts'

const PARTY = `alice::1220${'a'.repeat(64)}`
const scope = 'localnet'

/** What the browser renders first, with what the server has put into the cache. */
async function rendered(fill: (client: QueryClient) => Promise<unknown>, use: () => unknown) {
  const server = new QueryClient()
  await fill(server)
  const client = new QueryClient()
  hydrate(client, JSON.parse(JSON.stringify(dehydrate(server))))
  return renderToString(h(QueryClientProvider, { client }, h(Page, { use })))
}

function Page({ use }: { readonly use: () => unknown }) {
  return h('p', null, String(use()))
}

describe('names', () => {
  const names = fakeNames({ alice: PARTY, alan: PARTY })

  it('a name is shown with its party, before the first answer of the watch', async () => {
    const fill = (client: QueryClient) =>
      client.prefetchQuery(nameQuery(names, ' Alice', { scope, threshold: 'strong' }))
    const use = (options: object) => () => {
      const { shown, party } = useName('alice', { names, ...options })
      return `${shown.kind} ${party}`
    }
    const same = { query: { scope }, threshold: 'strong', pollMs: 1000 }
    expect(await rendered(fill, use(same))).toBe(`<p>proven ${PARTY}</p>`)
    // It was read with another threshold, and for another network.
    for (const other of [{ query: { scope } }, { threshold: 'strong' }])
      expect(await rendered(fill, use(other))).toBe('<p>pending null</p>')
  })

  it('an answer that has become too old is stale', async () => {
    const nowMicros = () => systemClock.nowMicros() - 120_000_000
    const older = fakeNames({ alice: PARTY }, { clock: { ...systemClock, nowMicros } })
    const fill = (client: QueryClient) => client.prefetchQuery(nameQuery(older, 'alice', { scope }))
    const use = () => {
      const { shown, party } = useName('alice', { names, query: { scope } })
      return `${shown.kind} ${party}`
    }
    expect(await rendered(fill, use)).toBe('<p>stale null</p>')
  })

  it('the name of a party, and names with a prefix', async () => {
    const fill = async (client: QueryClient) => {
      await client.prefetchQuery(reverseQuery(names, PARTY, { scope }))
      await client.prefetchQuery(searchQuery(names, 'al', { scope }))
    }
    const use = () => {
      const { name } = useReverse(PARTY, { names, query: { scope } })
      const { entries } = useSearch('al', { names, query: { scope } })
      return `${name} ${entries.length}`
    }
    expect(await rendered(fill, use)).toBe('<p>alan.unverified.ns 2</p>')
  })
})

it('balance, transactions and offers of the wallet', async () => {
  const wallet = {
    balance: async () => ({ effectiveUnlockedQty: '2.5000000000' }) as Balance,
    async *transactions() {
      yield { eventId: 'newest' } as Transaction
    },
    transfers: async () => [{ contractId: 'offer' }] as unknown as readonly Contract[],
  } as unknown as Wallet // All that the hooks read.
  const fill = async (client: QueryClient) => {
    await client.prefetchQuery(balanceQuery(wallet, { scope }))
    await client.prefetchQuery(transactionsQuery(wallet, { scope, limit: 1 }))
    await client.prefetchQuery(offersQuery(wallet, { scope }))
  }
  const use = (scope: string) => () => {
    const { data: balance } = useBalance({ wallet, scope })
    const { data: transactions } = useTransactions({ wallet, scope, limit: 1 })
    const { data: offers, isPending } = useOffers({ wallet, scope })
    const first = `${balance?.effectiveUnlockedQty} ${transactions?.[0]?.eventId}`
    return `${first} ${offers?.[0]?.contractId} ${isPending}`
  }
  expect(await rendered(fill, use(scope))).toBe('<p>2.5000000000 newest offer false</p>')
  expect(await rendered(fill, use('other'))).toBe('<p>undefined undefined undefined true</p>')
})
