/** What happened, newest first. */

import type { LiveEvent } from '../api.ts'
import { Panel } from '../parts.tsx'
import { clockTime } from '../time.ts'

/** In sight; all others are a click away, so that no row is ever cut in half. */
const NEWEST_SHOWN = 8
const SHOWN_MAX = 60

const signs: Readonly<Record<LiveEvent['kind'], { sign: string; tone: string }>> = {
  state: { sign: '●', tone: 'idle' },
  fault: { sign: '⚡', tone: 'bad' },
  healed: { sign: '✚', tone: 'good' },
  ended: { sign: '✖', tone: 'bad' },
  malformed: { sign: '✖', tone: 'bad' },
  quorum: { sign: '◆', tone: 'good' },
  'no-quorum': { sign: '◆', tone: 'bad' },
}

export function EventPanel({ events }: { readonly events: readonly LiveEvent[] }) {
  const newest = events.slice(-SHOWN_MAX).reverse()
  const older = newest.slice(NEWEST_SHOWN)
  return (
    <Panel title="Events" note={newest.length === 0 ? undefined : 'newest first'}>
      {newest.length === 0 ? (
        <p className="empty">Nothing has happened since the cluster started. Kill a node.</p>
      ) : (
        <EventList label="Events, newest first" events={newest.slice(0, NEWEST_SHOWN)} />
      )}
      {older.length === 0 ? null : (
        <details>
          <summary>{older.length} more</summary>
          <EventList label="Events before those" events={older} />
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
          <span className={`${signs[event.kind].tone}-text sign`} aria-hidden="true">
            {signs[event.kind].sign}
          </span>
          <span>{event.sentence}</span>
        </li>
      ))}
    </ol>
  )
}
