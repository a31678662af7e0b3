/** One lookup with everything behind it: each node's vote, the outcome, the receipt. */
import { useState } from 'react'
import { type Api, reasonOf, type Verified } from '../api.ts'
import { Panel } from '../panel.tsx'
import { shorten, toneOfOutcome } from '../words.ts'

type Vote = {
  readonly node: string
  readonly kind: string
  readonly head: number | null
  readonly reason: string | null
}

/** The part of the reader's outcome that is shown; it crosses the control plane as text. */
type Explained = {
  readonly kind: string
  readonly threshold: number
  readonly offset?: number
  readonly historyHash?: string
  readonly answer?: { readonly entry: Readonly<Record<string, string | null>> | null }
  readonly votes: readonly Vote[] | null
}

const voteTones: Readonly<Record<string, string>> = {
  agreed: 'good',
  dissented: 'bad',
  lagging: 'warn',
  failed: 'bad',
  silent: 'idle',
}

export function LookupPanel({ api }: { readonly api: Api }) {
  const [subject, setSubject] = useState('alice.unverified.ns')
  const [quorum, setQuorum] = useState('weak')
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<Explained | null>(null)
  const [receipt, setReceipt] = useState<Verified | string | null>(null)

  const ask = async () => {
    setAsking(true)
    setProblem(null)
    setReceipt(null)
    const asked = { subject: subject.trim(), quorum }
    try {
      setOutcome(JSON.parse(await api.lookups.explain.query(asked)) as Explained)
      setReceipt(await api.receipts.get.query(asked).catch((error: unknown) => reasonOf(error)))
    } catch (error) {
      setOutcome(null)
      setProblem(reasonOf(error))
    } finally {
      setAsking(false)
    }
  }
  return (
    <Panel title="Lookup" note="asks every node">
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void ask()
        }}
      >
        <label className="grow">
          Name or party
          <input
            value={subject}
            onChange={(event) => setSubject(event.target.value)}
            spellCheck={false}
            autoCapitalize="none"
            autoComplete="off"
            required
          />
        </label>
        <label>
          Quorum
          <select value={quorum} onChange={(event) => setQuorum(event.target.value)}>
            <option value="weak">weak (f+1)</option>
            <option value="strong">strong (q)</option>
            <option value="all">all (n)</option>
          </select>
        </label>
        <button type="submit" className="primary" disabled={isAsking}>
          {isAsking ? 'Asking …' : 'Look up'}
        </button>
      </form>
      <div aria-live="polite">
        {problem === null ? null : <p className="problem">{problem}</p>}
        {outcome === null ? (
          <p className="empty">
            An answer counts only if enough nodes give it, byte for byte, at one offset.
          </p>
        ) : (
          <Result outcome={outcome} />
        )}
        {outcome === null ? null : <ReceiptView receipt={receipt} />}
      </div>
    </Panel>
  )
}

function Result({ outcome }: { readonly outcome: Explained }) {
  const entry = outcome.answer?.entry ?? null
  return (
    <>
      <p className="result">
        <span className={`badge big ${toneOfOutcome(outcome.kind)}`}>{outcome.kind}</span>
        {outcome.offset === undefined ? null : (
          <span className="muted">
            at offset {outcome.offset}, {outcome.threshold} needed
          </span>
        )}
      </p>
      {entry === null ? null : (
        <dl className="fields">
          {Object.entries(entry).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd title={value ?? undefined}>
                {value === null || value === '' ? '–' : shorten(value, 46)}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <ul className="votes" aria-label="Votes">
        {(outcome.votes ?? []).map((vote) => (
          <li key={vote.node}>
            <strong>{vote.node}</strong>
            <span className={`badge ${voteTones[vote.kind] ?? 'idle'}`}>{vote.kind}</span>
            <span className="muted">
              {vote.head === null ? 'no head' : `head ${vote.head}`}
              {vote.reason === null ? '' : `, ${vote.reason}`}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

function ReceiptView({ receipt }: { readonly receipt: Verified | string | null }) {
  if (receipt === null) return null
  if (typeof receipt === 'string') return <p className="muted">Receipt: {receipt}</p>
  const save = () => {
    const url = URL.createObjectURL(new Blob([receipt.text], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = 'receipt.json'
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <details className="receipt">
      <summary>
        Receipt: signed by {receipt.signers.join(', ')} at offset {receipt.offset}
      </summary>
      <pre>{JSON.stringify(JSON.parse(receipt.text), null, 2)}</pre>
      <button type="button" onClick={save}>
        Save it
      </button>{' '}
      <span className="muted">
        and check it offline: <code>quorumscan verify receipt.json</code>
      </span>
    </details>
  )
}
