/** The parts of the cluster that work, and how many further failures each tolerates. */
import type { Status } from './api.ts'
import { type Headline, headlinesOf, liarsOf } from './headlines.ts'

export function Strip({ status }: { readonly status: Status }) {
  const liars = liarsOf(status)
  return (
    <section className="strip" aria-label="Services and tolerated failures">
      <ul className="headlines" aria-live="assertive">
        {headlinesOf(status).map(({ label, tone, verdict, detail, meter }) => (
          <li key={label} className={`headline ${tone}`} aria-label={label}>
            <p className="headline-label">{label}</p>
            <p className="headline-title">{verdict}</p>
            {meter && <Meter {...meter} />}
            <p className="headline-detail">{detail}</p>
          </li>
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

/** A cell for each node, with a mark at the threshold. The text next to it has the same numbers. */
function Meter({ have, need, of }: NonNullable<Headline['meter']>) {
  return (
    <div className="meter" aria-hidden="true">
      {Array.from({ length: of }, (_, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a cell has no identity but its position.
          key={index}
          className={`cell ${index < have ? 'full' : ''} ${index === need - 1 ? 'needed' : ''}`}
        />
      ))}
    </div>
  )
}
