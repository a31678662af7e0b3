import { shortParty, toDate } from '@quorumscan/sdk'
import type { Basis, Candidate } from '@quorumscan/sdk/naming'
import type { UsePartyResult } from '@quorumscan/sdk/react'
import type { ReactNode } from 'react'
import { Button, Notice } from './parts.tsx'

const BASIS: Readonly<Record<Basis, string>> = {
  proof: 'Proven to this page by the signatures of the nodes.',
  votes: 'This page compared the answers of several scans.',
  proxy: 'Checked by the validator.',
  claimed: 'One server states this. Nothing was checked.',
}

/** What is known of the typed recipient. Only one of these states lets the user send. */
export function Recipient({ recipient }: { readonly recipient: UsePartyResult }) {
  const { state, resolution, error, retry } = recipient
  switch (state) {
    case 'idle':
      return (
        <Notice tone="idle" title="To whom?">
          <p className="small">
            A name such as <code>bob</code>, a qualified name such as{' '}
            <code>localnet:cns:bob.unverified.ns</code>, or a party.
          </p>
        </Notice>
      )
    case 'typing':
    case 'resolving':
      return <Notice tone="idle" title="Asking the nodes…" />
    case 'party':
      return resolution?.kind === 'found' ? <Found found={resolution} /> : null
    case 'changed':
      return <Changed recipient={recipient} />
    case 'absent':
      return (
        <Notice tone="warn" title="No party has this name">
          <p className="small">The nodes have proven that it is free. You can register it.</p>
        </Notice>
      )
    case 'invalid':
      return (
        <Notice tone="bad" title="This is not a name or a party">
          <p className="small">{error?.message}</p>
        </Notice>
      )
    case 'expired':
      return <Refused title="The name has expired" why="It may get another owner at any time." />
    case 'claimed':
      return <Refused title="Only claimed" why={BASIS.claimed} />
    case 'disputed':
      return <Refused title="The answers conflict" why="Do not send. Tell the operators." />
    case 'ambiguous':
      return (
        <Refused title="Two naming systems have this name" why="Type it with its naming system.">
          <Parties candidates={resolution?.kind === 'ambiguous' ? resolution.candidates : []} />
        </Refused>
      )
    case 'failed':
      return (
        <Refused title="Not verified" why={error?.message ?? ''}>
          <p className="actions">
            <Button onClick={retry}>Try again</Button>
          </p>
        </Refused>
      )
  }
}

function Found({ found }: { readonly found: Candidate }) {
  const { displayName, party, resolver, basis, validUntil } = found
  return (
    <Notice tone="good" title={displayName}>
      {resolver === 'party-id' ? (
        <p className="small">A party stands for itself. Compare all of it with its source.</p>
      ) : (
        <p className="small">
          {BASIS[basis]} {validUntil !== null && `Valid until ${dayOf(validUntil)}.`}
        </p>
      )}
      <code title={party}>{party}</code>
    </Notice>
  )
}

function Changed({ recipient }: { readonly recipient: UsePartyResult }) {
  const { changed, acceptChange } = recipient
  if (changed === null) return null
  return (
    <Notice tone="warn" title={`${changed.name} has another owner`}>
      <dl>
        <dt>Until {dayOf(changed.previousSeenAt)}</dt>
        <dd>
          <code title={changed.previousParty}>{shortParty(changed.previousParty)}</code>
        </dd>
        <dt>Now</dt>
        <dd>
          <code title={changed.party}>{shortParty(changed.party)}</code>
        </dd>
      </dl>
      <p className="small">Ask the recipient in another way before you send to the new owner.</p>
      <p className="actions">
        <Button onClick={() => void acceptChange()}>Accept the new owner</Button>
      </p>
    </Notice>
  )
}

function Refused(props: {
  readonly title: string
  readonly why: string
  readonly children?: ReactNode
}) {
  return (
    <Notice tone="bad" title={props.title}>
      <p className="small">{props.why}</p>
      {props.children}
    </Notice>
  )
}

function Parties({ candidates }: { readonly candidates: readonly Candidate[] }) {
  return (
    <ul>
      {candidates.map(({ fqpn, party }) => (
        <li key={fqpn}>
          <code>{fqpn}</code> {shortParty(party)}
        </li>
      ))}
    </ul>
  )
}

export function dayOf(time: string): string {
  return toDate(time).toLocaleDateString(undefined, { dateStyle: 'medium' })
}
