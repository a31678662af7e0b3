// React: the recipient of a payment, for a field that takes a name, a qualified name or a party.
import type { Resolver } from '@quorumscan/sdk/naming'
import { useParty, usePartyName } from '@quorumscan/sdk/react'
import { createElement as h, type ReactElement } from 'react'

type Props = { readonly typed: string; readonly resolver: Resolver }

export function Recipient({ typed, resolver }: Props): ReactElement {
  const { state, party, changed, error, acceptChange, retry } = useParty(typed, { resolver })
  const { text } = usePartyName(party ?? '', { resolver })
  if (state === 'party') return h('p', { role: 'status' }, `Send to ${text} (${party})`)
  const button = (text: string, onClick: () => void) =>
    h('button', { type: 'button', onClick }, text)
  if (state === 'changed')
    return button(`It belongs to ${changed?.party} now. Accept`, acceptChange)
  if (state === 'failed') return button(`${error?.message} Try again`, retry)
  return h('p', { role: 'status' }, error?.message ?? state)
}
