import type { useParty } from '@quorumscan/sdk/react'
import { Button, Notice } from './parts.tsx'

type Known = ReturnType<typeof useParty>
type Shown = Known['shown']
type Found = NonNullable<Extract<Shown, { readonly kind: 'proven' }>['value']>
type Change = Extract<Shown, { readonly kind: 'changed' }>['previous']

const BASIS: Readonly<Record<Found['basis'], string>> = {
  proof: 'Proven to this page by the signatures of the nodes.',
  votes: 'This page compared the answers of several scans.',
  trusted: 'One node that this page trusts decided alone.',
  proxy: 'Checked by the validator.',
  claimed: 'One server states this. Nothing was checked.',
}

/** What is known of the typed recipient. Only `proven` with a value lets the user send. */
export function Recipient({
  typed,
  recipient: { shown, acceptChange, retry },
}: {
  readonly typed: string
  readonly recipient: Known
}) {
  if (typed.trim() === '')
    return (
      <Notice tone="idle" title="To whom?">
        <p className="small">
          A name such as <code>bob</code>, a qualified name such as{' '}
          <code>localnet:cns:bob.unverified.ns</code>, or a party.
        </p>
      </Notice>
    )
  switch (shown.kind) {
    case 'pending':
      return <Notice tone="idle" title="Asking the nodes…" />
    case 'proven':
      if (shown.value !== null) return <FoundParty found={shown.value} />
      return (
        <Notice tone="warn" title="No party has this name">
          <p className="small">The nodes have proven that it is free. You can register it.</p>
        </Notice>
      )
    case 'changed':
      return <Changed change={shown.previous} onAccept={() => void acceptChange()} />
    case 'stale':
      return (
        <Notice tone="warn" title={shown.value?.displayName ?? 'No recent answer'}>
          <p className="small">
            The last answer is too old to send to. {shown.error?.message ?? 'Asking again…'}
          </p>
        </Notice>
      )
    case 'failed':
      return (
        <Notice tone="bad" title={TITLES[shown.error.code] ?? 'Not verified'}>
          <p className="small">{shown.error.message}</p>
          <p className="actions">
            <Button onClick={retry}>Try again</Button>
          </p>
        </Notice>
      )
  }
}

const TITLES: Readonly<Record<string, string>> = {
  CONSENSUS_DISPUTED: 'The answers conflict',
  INVALID_NAME: 'This is not a name or a party',
  INVALID_PARTY: 'This is not a party',
  NAME_AMBIGUOUS: 'Two naming systems have this name',
  NAME_CLAIMED: 'Only claimed',
  NAME_EXPIRED: 'The name has expired',
  OFFLINE: 'You are offline',
}

function FoundParty({ found }: { readonly found: Found }) {
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

function Changed({ change, onAccept }: { readonly change: Change; readonly onAccept: () => void }) {
  return (
    <Notice tone="warn" title={`${change.name} has another owner`}>
      <dl>
        <dt>Until {dayOf(change.previousSeenAt)}</dt>
        <dd>
          <code>{change.previousParty}</code>
        </dd>
        <dt>Now</dt>
        <dd>
          <code>{change.party}</code>
        </dd>
      </dl>
      <p className="small">Ask the recipient in another way before you send to the new owner.</p>
      <p className="actions">
        <Button onClick={onAccept}>Accept the new owner</Button>
      </p>
    </Notice>
  )
}

/** The day of a time of the SDK, in UTC. */
export function dayOf(time: string): string {
  return time.slice(0, '2026-11-29'.length)
}
