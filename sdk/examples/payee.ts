// React: show the owner of a name, and whether to believe it, next to the input field.
import type { Scan } from '@quorumscan/sdk'
import { NamesProvider, useName } from '@quorumscan/sdk/react'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement as h, type ReactElement } from 'react'

const client = new QueryClient()

export function Payee({ name }: { readonly name: string }): ReactElement {
  const { shown, party } = useName(name, { threshold: 'strong' })
  // `party` is null unless enough nodes agree and the owner is the same as before.
  return h('p', { role: 'status' }, party === null ? `${shown.kind}…` : `${shown.kind}: ${party}`)
}

export function App({ scan, name }: { readonly scan: Scan; readonly name: string }): ReactElement {
  const names = h(NamesProvider, { names: scan.names }, h(Payee, { name }))
  return h(QueryClientProvider, { client }, names)
}
