/** What holds and what can still be lost, in one look. */
import type { Status } from './api.ts'
import { countedCount, headlineOf, type Stage, stagesOf } from './words.ts'

export function Strip({ status }: { readonly status: Status }) {
  const headline = headlineOf(status)
  return (
    <section className={`strip ${headline.tone}`} aria-label="State of the quorum">
      <div className="headline" role="status" aria-live="assertive">
        <p className="headline-title">{headline.title}</p>
        <p className="headline-detail">{headline.detail}</p>
      </div>
      <Meter status={status} />
      <dl className="stages">
        {stagesOf(status).map((stage) => (
          <StageItem key={stage.label} stage={stage} />
        ))}
      </dl>
    </section>
  )
}

/** A cell for each node, with a mark where the threshold is. */
function Meter({ status }: { readonly status: Status }) {
  const { n, readThreshold } = status.cluster
  const counted = countedCount(status)
  return (
    <div
      className="meter"
      role="img"
      aria-label={`${counted} of ${n} nodes can be counted on; ${readThreshold} must agree`}
    >
      {status.nodes.map((node, index) => (
        <span
          key={node.name}
          className={`cell ${index < counted ? 'full' : ''} ${index === readThreshold - 1 ? 'needed' : ''}`}
        />
      ))}
    </div>
  )
}

function StageItem({ stage }: { readonly stage: Stage }) {
  return (
    <div className="stage">
      <dt>
        <span className={`dot ${stage.tone}`} aria-hidden="true" />
        {stage.label}
      </dt>
      <dd>{stage.text}</dd>
    </div>
  )
}
