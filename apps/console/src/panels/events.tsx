/** Recent events, newest first. */
import type { Tone } from 'quorumscan/view'
import type { LiveEvent } from '../api.ts'
import { Panel } from '../parts.tsx'
import { clockTime } from '../time.ts'

/** Shown at once. The others are a click away, so that no row is cut in half. */
const NEWEST_SHOWN = 8
const SHOWN_MAX = 60

const signs: Readonly<Record<LiveEvent['kind'], readonly [sign: string, tone: Tone]>> = {
  state: ['●', 'idle'],
  fault: ['⚡', 'bad'],
  healed: ['✚', 'good'],
  ended: ['✖', 'bad'],
  malformed: ['✖', 'bad'],
  quorum: ['◆', 'good'],
  'no-quorum': ['◆', 'bad'],
}

export function EventPanel({ events }: { readonly events: readonly LiveEvent[] }) {
  const newest = events.slice(-SHOWN_MAX).reverse()
  const older = newest.slice(NEWEST_SHOWN)
  return (
    <Panel title="Events" note={newest.length === 0 ? undefined : 'newest first'}>
      {newest.length === 0 ? (
        <p className="empty">No events since the cluster started. Kill a node to see some.</p>
      ) : (
        <EventList label="Events, newest first" events={newest.slice(0, NEWEST_SHOWN)} />
      )}
      {older.length > 0 && (
        <details>
          <summary>{older.length} more</summary>
          <EventList label="Older events" events={older} />
        </details>
      )}
    </Panel>
  )
}

function EventList(props: { readonly label: string; readonly events: readonly LiveEvent[] }) {
  return (
    <ol className="events" aria-label={props.label}>
      {props.events.map((event) => (
        <li key={`${event.at} ${event.sentence}`}>
          <time dateTime={event.at}>{clockTime(event.at)}</time>
          <span className={`${signs[event.kind][1]}-text sign`} aria-hidden="true">
            {signs[event.kind][0]}
          </span>
          <span>{event.sentence}</span>
        </li>
      ))}
    </ol>
  )
}
