/** What holds and what can still be lost, in one look. */
import type { Status } from './api.ts'
import { type Headline, headlinesOf, liarsOf } from './budgets.ts'

export function Strip({ status }: { readonly status: Status }) {
  const liars = liarsOf(status)
  return (
    <section className="strip" aria-label="State of the quorum">
      <ul className="budgets" aria-live="assertive">
        {headlinesOf(status).map((headline) => (
          <BudgetItem key={headline.label} headline={headline} />
        ))}
      </ul>
      <p className="small">
        <span className={`dot ${liars.tone}`} aria-hidden="true" /> {liars.text}{' '}
        <span className="muted">
          n = {status.cluster.n}, f = {status.cluster.f}
        </span>
      </p>
    </section>
  )
}

function BudgetItem({ headline }: { readonly headline: Headline }) {
  const { label, tone, title, detail, meter } = headline
  return (
    <li className={`budget ${tone}`} aria-label={label}>
      <p className="budget-label">{label}</p>
      <p className="budget-title">{title}</p>
      {meter === null ? null : <Meter {...meter} />}
      <p className="budget-detail">{detail}</p>
    </li>
  )
}

/** A cell for each node, with a mark where the threshold is. The detail beside it says the same. */
function Meter(props: NonNullable<Headline['meter']>) {
  const { have, need, of } = props
  return (
    <div className="meter" aria-hidden="true">
      {Array.from({ length: of }, (_, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: cells are their places.
          key={index}
          className={`cell ${index < have ? 'full' : ''} ${index === need - 1 ? 'needed' : ''}`}
        />
      ))}
    </div>
  )
}
