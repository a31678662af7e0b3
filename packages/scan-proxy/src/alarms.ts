/**
 * Alarms that a node can raise as often as it likes: each is worth a line, a million of them are not.
 */
import { LRUCache } from 'lru-cache'

/** Between lines about one subject. An alarm is for a person, who needs it once. */
const SILENCE_MS = 60_000
/** Subjects are nodes (at most 100) and kinds of alarm. */
const SUBJECTS_MAX = 256

export type Alarm = (input: {
  /** Alarms about one subject share a line a minute. */
  readonly subject: string
  readonly text: string
  readonly fields: object
}) => void

/** @param options.log - Gets `leftOut` with the fields: the alarms about the subject since its last line. */
export function createAlarm(options: {
  readonly monotonicMs: () => number
  readonly log: (fields: object, text: string) => void
}): Alarm {
  type Line = { readonly atMs: number; leftOut: number }
  const lastBySubject = new LRUCache<string, Line>({ max: SUBJECTS_MAX })
  return ({ subject, text, fields }) => {
    const now = options.monotonicMs()
    const last = lastBySubject.get(subject)
    if (last !== undefined && now - last.atMs < SILENCE_MS) {
      last.leftOut++
      return
    }
    lastBySubject.set(subject, { atMs: now, leftOut: 0 })
    options.log({ ...fields, leftOut: last?.leftOut ?? 0 }, text)
  }
}
