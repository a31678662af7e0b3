// React: a form that sends coin at most once: after a lost answer, a reload and offline, and in two tabs.
import type { Validator } from '@quorumscan/sdk'
import type { Resolver } from '@quorumscan/sdk/naming'
import { useParty, useTransfer } from '@quorumscan/sdk/react'
import { createElement as h, type ReactElement, type SyntheticEvent, useState } from 'react'

/** The validator has a `store` that survives a reload, such as `createLocalStorageStore()`. */
type Props = { readonly validator: Validator; readonly resolver: Resolver }

const RESULTS = {
  done: 'It is sent.',
  refused: 'Nothing was sent.',
  unknown: 'It is not known yet whether it was sent. Do not send it again: finish it below.',
} as const

export function Send({ validator, resolver }: Props): ReactElement {
  const [typed, setTyped] = useState('')
  const [coin, setCoin] = useState('1.0')
  const { shown, party, acceptChange } = useParty(typed, { resolver })
  const { payments } = validator
  const { mutate, isPending, result, error, unfinished, cancel } = useTransfer({ payments })

  const maySend = party !== null && !isPending && unfinished.length === 0
  const say = (text: string) => h('p', { role: 'status' }, text)
  const button = (text: string, onClick: () => void, key?: string) =>
    h('button', { type: 'button', onClick, key }, text)
  const field = (value: string, set: (value: string) => void) =>
    h('input', { value, onChange: ({ currentTarget }) => set(currentTarget.value) })
  const onSubmit = (event: SyntheticEvent) => {
    event.preventDefault()
    // `party` is null unless the answer is recent, and checked as `minBasis` of the resolver demands.
    if (party !== null) mutate({ receiver: party, coin })
  }
  return h(
    'form',
    { onSubmit },
    field(typed, setTyped),
    shown.kind === 'failed' && say(shown.error.message),
    shown.kind === 'changed' &&
      button(`It belongs to ${shown.value.party} now. Accept`, acceptChange),
    party !== null && say(`To ${party}`),
    field(coin, setCoin),
    h('button', { type: 'submit', disabled: !maySend }, 'Send'),
    isPending && button('Cancel', cancel),
    result !== null && say(RESULTS[result.kind]),
    // It was not begun: nothing was sent by this call.
    error !== null && say(error.message),
    // Of this tab, another one, or a closed session. It reads the ledger first, and pays at most once.
    ...unfinished.map((payment) => {
      const { id, kind, transfer } = payment
      const what = transfer === null ? kind : `${transfer.coin} to ${transfer.receiver}`
      return button(`Finish: ${what}`, () => mutate(payment), id)
    }),
  )
}
