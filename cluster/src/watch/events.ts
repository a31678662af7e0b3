/** What happened to a cluster, read off its states as they come. Pure. */

import { type NodeState, wordOfState } from '@quorumscan/errors/node-words'
import { type LiveStatus, servicesOf } from '../rig/status.ts'
import { budgetsOf } from '../view/budgets.ts'

export type LiveEvent = {
  /** ISO 8601. */
  readonly at: string
  readonly kind: 'state' | 'fault' | 'healed' | 'quorum' | 'no-quorum' | 'ended' | 'malformed'
  /** Null where it is about all. */
  readonly node: string | null
  readonly sentence: string
}

/** What was heard of a process, and is another thing again within this time, was no event. */
const SETTLED_MS = 1000
/** Known of the process itself rather than heard from it. */
const CERTAIN: readonly NodeState[] = ['down', 'paused']

type Told = {
  /** What was said of it last. */
  readonly value: string
  /** What it has looked like since. */
  readonly seen: string
  readonly sinceMs: number
}

/** What was last looked at, and what was said of it. */
export type EventMemory = {
  readonly status: LiveStatus
  readonly told: Readonly<Record<string, Told>>
}

type Event = Omit<LiveEvent, 'at'>
type Subject = { readonly value: string; readonly isCertain: boolean; readonly event: Event }

/** Takes the next state, at a monotonic time; null before the first one, which is no event. */
export function step(
  before: EventMemory | null,
  status: LiveStatus,
  nowMs: number,
): { readonly memory: EventMemory; readonly events: readonly Event[] } {
  const told: Record<string, Told> = {}
  const events: Event[] = before === null ? [] : [...changedFaults(before.status, status)]
  for (const [name, { value, isCertain, event }] of Object.entries(subjectsOf(status))) {
    const last = before?.told[name] ?? { value, seen: value, sinceMs: nowMs }
    const sinceMs = value === last.seen ? last.sinceMs : nowMs
    const isEvent = value !== last.value && (isCertain || nowMs - sinceMs >= SETTLED_MS)
    if (isEvent) events.push(event)
    told[name] = { value: isEvent ? value : last.value, seen: value, sinceMs }
  }
  return { memory: { status, told }, events }
}

function subjectsOf(status: LiveStatus): Readonly<Record<string, Subject>> {
  const { verdict, tone } = budgetsOf(status).lookups
  const isQuorum = tone !== 'bad'
  const services = servicesOf(status).map(({ name, state }) => [
    name,
    {
      value: state,
      isCertain: CERTAIN.includes(state),
      event: { kind: 'state', node: name, sentence: `${name} is ${wordOfState[state]}` },
    },
  ])
  return {
    ...Object.fromEntries(services),
    quorum: {
      value: String(isQuorum),
      isCertain: false,
      event: {
        kind: isQuorum ? 'quorum' : 'no-quorum',
        node: null,
        sentence: isQuorum ? 'lookups are answered' : `lookups: ${verdict}`,
      },
    },
  }
}

function changedFaults(before: LiveStatus, now: LiveStatus): Event[] {
  const missing = (from: LiveStatus, in_: LiveStatus) =>
    from.faults.filter(({ id }) => !in_.faults.some((fault) => fault.id === id))
  return [
    ...missing(now, before).map(
      ({ spec, words }): Event => ({
        kind: 'fault',
        node: spec.node,
        sentence: `${spec.node} ${words}`,
      }),
    ),
    ...missing(before, now).map(
      ({ spec, words }): Event => ({
        kind: 'healed',
        node: spec.node,
        sentence: `${spec.node} no longer ${words}`,
      }),
    ),
  ]
}
