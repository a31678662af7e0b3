/** How the interface writes instants (reference/ledger-interface.md §1.1). */
import { formatTime, type Micros } from '@quorumscan/model'

/** ISO-8601 UTC; the fraction has 0, 3 or 6 digits, whichever are enough. */
export function formatInstant(micros: Micros): string {
  const text = formatTime(micros)
  if (text.endsWith('.000000Z')) return `${text.slice(0, -8)}Z`
  return text.endsWith('000Z') ? `${text.slice(0, -4)}Z` : text
}
