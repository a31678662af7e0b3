// React: whom a name belongs to, and whether to believe it, beside the field where it is typed.
import type { Scan } from '@quorumscan/sdk'
import { NamesProvider, useName } from '@quorumscan/sdk/react'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement as h, type ReactElement } from 'react'

const client = new QueryClient()

export function Payee({ name }: { readonly name: string }): ReactElement {
  const { trust, party } = useName(name, { threshold: 'strong' })
  // `party` is null unless enough nodes agree and it is whom it was before: nothing to send to by mistake.
  return h('p', { role: 'status' }, party === null ? `${trust}…` : `${trust}: ${party}`)
}

export function App({ scan, name }: { readonly scan: Scan; readonly name: string }): ReactElement {
  const names = h(NamesProvider, { names: scan.names }, h(Payee, { name }))
  return h(QueryClientProvider, { client }, names)
}
