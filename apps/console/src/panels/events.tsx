/** What happened, newest first. */
import type { LiveEvent } from '../api.ts'
import { Panel } from '../panel.tsx'
import { clockTime } from '../time.ts'

const SHOWN_MAX = 60

const signs: Readonly<Record<LiveEvent['kind'], { sign: string; tone: string }>> = {
  state: { sign: '●', tone: 'idle' },
  fault: { sign: '⚡', tone: 'bad' },
  healed: { sign: '✚', tone: 'good' },
  ended: { sign: '✖', tone: 'bad' },
  quorum: { sign: '◆', tone: 'warn' },
}

export function EventPanel({ events }: { readonly events: readonly LiveEvent[] }) {
  const newest = events.slice(-SHOWN_MAX).reverse()
  return (
    <Panel title="Events" note={newest.length === 0 ? undefined : 'newest first'}>
      {newest.length === 0 ? (
        <p className="empty">Nothing has happened since the cluster started. Kill a node.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <ol className="events" tabIndex={0} aria-label="Events, newest first">
          {newest.map((event) => (
            <li key={`${event.at} ${event.sentence}`}>
              <time dateTime={event.at}>{clockTime(event.at)}</time>
              <span className={`${signs[event.kind].tone}-text sign`} aria-hidden="true">
                {signs[event.kind].sign}
              </span>
              <span>{event.sentence}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}
