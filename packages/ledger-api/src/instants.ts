/** How the interface writes instants (docs/upstream.md §L1.1). */

import type { Micros } from '@quorumscan/model'
import { formatInstant } from '@quorumscan/verifier'

const SECOND_MICROS = 1_000_000
const MILLI_MICROS = 1_000

/** The second that was written last: neighbors in a stream share it, and an update has its time three times. */
let known = { second: -1, text: '' }

/** ISO-8601 UTC; the fraction has 0, 3 or 6 digits, whichever are enough. */
export function formatLedgerInstant(micros: Micros): string {
  const second = Math.floor(micros / SECOND_MICROS)
  if (second !== known.second)
    known = { second, text: formatInstant(second * SECOND_MICROS).slice(0, -'.000000Z'.length) }
  const fraction = micros - second * SECOND_MICROS
  if (fraction === 0) return `${known.text}Z`
  return fraction % MILLI_MICROS === 0
    ? `${known.text}.${String(fraction / MILLI_MICROS).padStart(3, '0')}Z`
    : `${known.text}.${String(fraction).padStart(6, '0')}Z`
}
