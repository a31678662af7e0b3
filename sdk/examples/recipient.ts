// React: the recipient of a payment, for a field that takes a name, a qualified name or a party.
import type { Resolver } from '@quorumscan/sdk/naming'
import { useParty, usePartyName } from '@quorumscan/sdk/react'
import { createElement as h, type ReactElement } from 'react'

type Props = { readonly typed: string; readonly resolver: Resolver }

export function Recipient({ typed, resolver }: Props): ReactElement {
  const { shown, party, acceptChange, retry } = useParty(typed, { resolver })
  const { text } = usePartyName(party ?? '', { resolver })
  const say = (text: string) => h('p', { role: 'status' }, text)
  const button = (text: string, onClick: () => void) =>
    h('button', { type: 'button', onClick }, text)
  switch (shown.kind) {
    case 'pending':
      return say('…')
    case 'proven':
      return say(party === null ? 'No party has this name' : `Send to ${text} (${party})`)
    case 'changed':
      return button(`It belongs to ${shown.value.party} now. Accept`, acceptChange)
    case 'stale':
      return say('The last answer is too old to send to')
    case 'failed':
      return button(`${shown.error.message} Try again`, retry)
  }
}
