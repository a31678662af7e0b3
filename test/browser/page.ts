/** What the page of the browser test runs: the SDK as a web wallet bundles it. */
import { createLocalStorageStore, createScan, type LookupOutcome, type Scan } from '@quorumscan/sdk'
import { NamesProvider, useName, useReverse } from '@quorumscan/sdk/react'
import { parseGenesis, requestOfLookup, verifyReceipt } from '@quorumscan/sdk/receipts'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement as h, type ReactElement } from 'react'
import { createRoot } from 'react-dom/client'

let scan: Scan

function Payee({ name, party }: { readonly name: string; readonly party: string }): ReactElement {
  const payee = useName(name)
  const back = useReverse(party)
  return h('p', { id: 'payee' }, `${payee.trust} ${payee.party} ${back.trust} ${back.name}`)
}

export const wallet = {
  connect(options: { readonly seeds: readonly string[]; readonly genesisHash: string }): void {
    const { seeds, genesisHash } = options
    scan = createScan({ seeds, genesis: genesisHash, store: createLocalStorageStore() })
  },
  resolve: (name: string): Promise<string | null> => scan.names.resolve(name),
  lookup: (name: string): Promise<LookupOutcome> => scan.names.lookup(name),
  async verify(name: string, document: unknown): Promise<readonly string[]> {
    const outcome = await scan.names.lookup(name)
    if (!('receipt' in outcome)) throw new Error(outcome.kind)
    const request = requestOfLookup({ name })
    const genesis = parseGenesis(document)
    return (await verifyReceipt(outcome.receipt, { genesis, request })).signers
  },
  /** Event ids, as they come, until there are so many. */
  async follow(count: number): Promise<readonly string[]> {
    const ids: string[] = []
    const seen = document.createElement('ol')
    seen.id = 'activities'
    document.body.append(seen)
    for await (const { eventId } of scan.activities({ follow: true, pollMs: 100 })) {
      ids.push(eventId)
      seen.dataset['count'] = String(ids.length)
      if (ids.length >= count) break
    }
    return ids
  },
  show(name: string, party: string): void {
    const root = document.createElement('div')
    document.body.append(root)
    const payee = h(Payee, { name, party })
    const names = h(NamesProvider, { names: scan.names }, payee)
    createRoot(root).render(h(QueryClientProvider, { client: new QueryClient() }, names))
  },
  stored: (): readonly string[] => Object.keys(localStorage),
}

Object.assign(globalThis, { wallet })
