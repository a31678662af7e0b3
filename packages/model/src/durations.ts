/** Durations as people type them: `20s`, `12h`, `90d`. */
import type { Micros } from './time.ts'

const MICROS_BY_UNIT = {
  ms: 1_000,
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
} as const
type Unit = keyof typeof MICROS_BY_UNIT

/** Undefined if the text is not a duration. */
export function parseDuration(text: string): Micros | undefined {
  const match = /^([1-9][0-9]{0,8})(ms|s|m|h|d)$/.exec(text)
  return match === null ? undefined : Number(match[1]) * MICROS_BY_UNIT[match[2] as Unit]
}

/** In the largest unit that divides it. */
export function formatDuration(micros: Micros): string {
  const units = Object.entries(MICROS_BY_UNIT).toReversed()
  const [unit, size] = units.find(([, each]) => micros % each === 0) ?? ['µs', 1]
  return `${micros / size}${unit}`
}
