/** One lookup with its evidence: the proof, its signers, and the vote of each node. */
import { AGREED, ANSWERED, DISSENTED } from '@quorumscan/errors/node-words'
import { shorten, toneOfOutcome } from 'quorumscan/view'
import { useState } from 'react'
import { type Api, reasonOf, type Voted } from '../api.ts'
import { Button, downloadOrOpen, ExactField, Fields, Form, Panel, Select } from '../parts.tsx'

const THRESHOLDS: readonly (readonly [string, string])[] = [
  ['weak', 'weak (f+1)'],
  ['strong', 'strong (q)'],
  ['all', 'all (n)'],
]
/** The label of a vote, in a dispute, for what the proof shows. */
const AS_PROVEN = 'as proven'

type Entry = Readonly<Record<string, string | null>>

/** The part of the outcome that is shown. The control plane sends it as text. */
type Resolved = {
  readonly kind: string
  readonly threshold: number
  readonly offset?: number
  readonly agreed: readonly string[]
  readonly answer?: Entry | null
  /** The document as the node sent it, and the request that it answers. */
  readonly receipt?: { readonly document: string }
  readonly asked: readonly { node: string; isProven: boolean; reason: string }[]
}

export function LookupPanel({ api }: { readonly api: Api }) {
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [resolved, setResolved] = useState<Resolved | null>(null)
  const [voted, setVoted] = useState<Voted | string | null>(null)

  const ask = async (input: { readonly subject: string; readonly quorum: string }) => {
    setAsking(true)
    setProblem(null)
    setVoted(null)
    try {
      setResolved(JSON.parse(await api.lookups.resolve.query(input)) as Resolved)
      setVoted(await api.lookups.votes.query(input).catch((error: unknown) => reasonOf(error)))
    } catch (error) {
      setResolved(null)
      setProblem(reasonOf(error))
    } finally {
      setAsking(false)
    }
  }
  return (
    <Panel title="Lookup" note="proven by one node, voted on by all">
      <Form
        onSubmit={(textOf) => void ask({ subject: textOf('subject'), quorum: textOf('quorum') })}
      >
        <ExactField
          label="Name or party"
          name="subject"
          defaultValue="alice.unverified.ns"
          required
        />
        <Select label="Threshold" name="quorum" choices={THRESHOLDS} />
        <button type="submit" className="primary" disabled={isAsking}>
          {isAsking ? 'Looking up …' : 'Look up'}
        </button>
      </Form>
      <div aria-live="polite">
        {problem && <p className="problem">{problem}</p>}
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
  const rows = Object.entries(answer ?? {}).map(
    ([name, value]) => [name, value ? shorten(value, 46) : '–', value ?? ''] as const,
  )
  const replies = asked.map(({ node, isProven, reason }) =>
    isProven
      ? { node, tone: 'good', word: ANSWERED, detail: null }
      : { node, tone: 'bad', word: 'failed', detail: reason },
  )
  return (
    <>
      <p className="result">
        <span className={`badge big ${toneOfOutcome(kind)}`}>{kind}</span>
        {offset !== undefined && (
          <span className="muted">
            at offset {offset}, {threshold} needed
          </span>
        )}
      </p>
      {answer && <Fields rows={rows} />}
      <h3>Proofs</h3>
      <Replies label="Nodes asked for a proof" rows={replies} />
    </>
  )
}

function Votes(props: {
  readonly voted: Voted | string | null
  /** Undefined if nothing was proven. */
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
  const replies = voted.groups.flatMap((group) => {
    const word = wordOf(group)
    const tone = [AGREED, AS_PROVEN].includes(word) ? 'good' : 'bad'
    const { entry } = group
    const detail = entry === undefined ? null : `for ${entry?.['user'] ?? 'no entry'}`
    return group.nodes.map((node) => ({ node, tone, word, detail }))
  })
  return (
    <>
      <h3>Votes</h3>
      <Replies label="Votes" rows={replies} />
      <p className="muted">
        {voted.heard} received, {voted.threshold} needed{voted.reason && `: ${voted.reason}`}
      </p>
    </>
  )
}

function isSameEntry(one: Entry | null | undefined, other: Entry | null | undefined): boolean {
  if (!one || !other) return one !== undefined && one === other
  return Object.entries(one).every(([name, value]) => other[name] === value)
}

function Replies(props: {
  readonly label: string
  readonly rows: readonly { node: string; tone: string; word: string; detail: string | null }[]
}) {
  return (
    <ul className="votes" aria-label={props.label}>
      {props.rows.map(({ node, tone, word, detail }) => (
        <li key={node}>
          <strong>{node}</strong>
          <span className={`badge ${tone}`}>{word}</span>
          {detail && <span className="muted">{shorten(detail, 40)}</span>}
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling areas must be reachable by keyboard. */}
      <pre tabIndex={0}>{JSON.stringify(JSON.parse(receipt.document), null, 2)}</pre>
      <Button onClick={() => downloadOrOpen(file(), { download: 'receipt.json' })}>
        Save the receipt
      </Button>{' '}
      <span className="muted">
        Check it offline with <code>quorumscan verify receipt.json</code>.
      </span>
    </details>
  )
}
