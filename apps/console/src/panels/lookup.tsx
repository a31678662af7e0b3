/** One lookup with everything behind it: the proof and who signed it, and what each node votes. */
import { AGREED, ANSWERED, DISSENTED } from '@quorumscan/errors/node-words'
import { shorten, toneOfOutcome } from 'quorumscan/view'
import { useState } from 'react'
import { type Api, reasonOf, type Voted } from '../api.ts'
import { ExactField, Fields, Form, handOut, Panel, Select } from '../parts.tsx'

const QUORUMS: readonly (readonly [string, string])[] = [
  ['weak', 'weak (f+1)'],
  ['strong', 'strong (q)'],
  ['all', 'all (n)'],
]
/** In a dispute: what the proof says as well. */
const AS_PROVEN = 'as proven'

type Entry = Readonly<Record<string, string | null>>

/** The part of the outcome that is shown; it crosses the control plane as text. */
type Resolved = {
  readonly kind: string
  readonly threshold: number
  readonly offset?: number
  readonly agreed: readonly string[]
  readonly answer?: Entry | null
  /** The document as the node gave it, and what it answers. */
  readonly receipt?: { readonly document: string }
  readonly asked: readonly { node: string; isProven: boolean; reason: string }[]
}

export function LookupPanel({ api }: { readonly api: Api }) {
  const [subject, setSubject] = useState('alice.unverified.ns')
  const [quorum, setQuorum] = useState('weak')
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [resolved, setResolved] = useState<Resolved | null>(null)
  const [voted, setVoted] = useState<Voted | string | null>(null)

  const ask = async () => {
    setAsking(true)
    setProblem(null)
    setVoted(null)
    const asked = { subject: subject.trim(), quorum }
    try {
      setResolved(JSON.parse(await api.lookups.resolve.query(asked)) as Resolved)
      setVoted(await api.lookups.votes.query(asked).catch((error: unknown) => reasonOf(error)))
    } catch (error) {
      setResolved(null)
      setProblem(reasonOf(error))
    } finally {
      setAsking(false)
    }
  }
  return (
    <Panel title="Lookup" note="one node proves it; all vote">
      <Form onSubmit={() => void ask()}>
        <ExactField
          className="grow narrow"
          label="Name or party"
          value={subject}
          onText={setSubject}
          required
        />
        <Select label="Quorum" value={quorum} choices={QUORUMS} onValue={setQuorum} />
        <button type="submit" className="primary" disabled={isAsking}>
          {isAsking ? 'Asking …' : 'Look up'}
        </button>
      </Form>
      <div aria-live="polite">
        {problem === null ? null : <p className="problem">{problem}</p>}
        {resolved === null ? (
          <p className="empty">
            An answer counts only if it follows from a state that enough members signed.
          </p>
        ) : (
          <>
            <Result resolved={resolved} />
            <Votes voted={voted} proven={resolved.answer} />
            <Receipt resolved={resolved} />
          </>
        )}
      </div>
    </Panel>
  )
}

function Result({ resolved }: { readonly resolved: Resolved }) {
  const { kind, offset, threshold, answer, asked } = resolved
  return (
    <>
      <p className="result">
        <span className={`badge big ${toneOfOutcome(kind)}`}>{kind}</span>
        {offset === undefined ? null : (
          <span className="muted">
            at offset {offset}, {threshold} needed
          </span>
        )}
      </p>
      {answer ? (
        <Fields
          rows={Object.entries(answer).map(
            ([name, value]) => [name, value ? shorten(value, 46) : '–', value ?? ''] as const,
          )}
        />
      ) : null}
      <h3>Asked for a proof</h3>
      <SaidList
        label="Nodes asked for a proof"
        rows={asked.map(({ node, isProven, reason }) =>
          isProven
            ? { who: node, tone: 'good', what: ANSWERED, more: null }
            : { who: node, tone: 'bad', what: 'failed', more: reason },
        )}
      />
    </>
  )
}

function Votes(props: {
  readonly voted: Voted | string | null
  /** Absent where nothing is. */
  readonly proven: Entry | null | undefined
}) {
  const { voted, proven } = props
  if (voted === null) return null
  if (typeof voted === 'string') return <p className="muted">Votes: {voted}</p>
  const [first] = voted.groups
  const wordOf = (group: Voted['groups'][number]) => {
    if (voted.reason !== null) return isSameEntry(group.entry, proven) ? AS_PROVEN : 'contradicts'
    return group === first ? AGREED : DISSENTED
  }
  return (
    <>
      <h3>Votes</h3>
      <SaidList
        label="Votes"
        rows={voted.groups.flatMap((group) => {
          const what = wordOf(group)
          const tone = [AGREED, AS_PROVEN].includes(what) ? 'good' : 'bad'
          const { entry } = group
          const more = entry === undefined ? null : `for ${entry?.['user'] ?? 'no entry'}`
          return group.nodes.map((who) => ({ who, tone, what, more }))
        })}
      />
      <p className="muted">
        {voted.heard} heard, {voted.threshold} needed{voted.reason && `: ${voted.reason}`}
      </p>
    </>
  )
}

function isSameEntry(one: Entry | null | undefined, other: Entry | null | undefined): boolean {
  if (!one || !other) return one !== undefined && one === other
  return Object.entries(one).every(([name, value]) => other[name] === value)
}

function SaidList(props: {
  readonly label: string
  readonly rows: readonly { who: string; tone: string; what: string; more: string | null }[]
}) {
  return (
    <ul className="votes" aria-label={props.label}>
      {props.rows.map(({ who, tone, what, more }) => (
        <li key={who}>
          <strong>{who}</strong>
          <span className={`badge ${tone}`}>{what}</span>
          {more === null ? null : <span className="muted">{shorten(more, 40)}</span>}
        </li>
      ))}
    </ul>
  )
}

function Receipt({ resolved }: { readonly resolved: Resolved }) {
  const { receipt, agreed, offset } = resolved
  if (receipt === undefined) return null
  const file = () => new Blob([JSON.stringify(receipt)], { type: 'application/json' })
  return (
    <details className="receipt">
      <summary>
        Receipt: signed by {agreed.join(', ')} at offset {offset}, {receipt.document.length} bytes
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>{JSON.stringify(JSON.parse(receipt.document), null, 2)}</pre>
      <button type="button" onClick={() => handOut(file(), { download: 'receipt.json' })}>
        Save it
      </button>{' '}
      <span className="muted">
        and check it offline: <code>quorumscan verify receipt.json</code>
      </span>
    </details>
  )
}
