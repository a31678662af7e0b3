/** The events of a cluster, derived from successive statuses. Pure. */

import { type NodeState, stateLabel } from '@quorumscan/errors/node-words'
import { type LiveStatus, servicesOf } from '../../rig/status.ts'
import { marginsOf } from '../../view/service-margins.ts'

/** An event for a person. */
export type LiveEvent = {
  /** ISO 8601. */
  readonly at: string
  readonly kind: 'state' | 'fault' | 'healed' | 'quorum' | 'no-quorum' | 'ended' | 'malformed'
  /** Null where it is about the whole cluster. */
  readonly node: string | null
  readonly sentence: string
}

/** A state that a process reported counts once it has lasted this long. */
const SETTLED_MS = 1000
/** States that the supervisor knows by itself, and that no process reports. */
const CERTAIN: readonly NodeState[] = ['down', 'paused']
/** The state that a fault causes. The event of the fault reports it. */
const STATE_OF_FAULT: Readonly<Record<string, NodeState>> = { kill: 'down', pause: 'paused' }

type Observed = {
  /** The value of the latest event. */
  readonly value: string
  /** The value of the latest status, and since when it has had it. */
  readonly seen: string
  readonly sinceMs: number
}

/** The state between two statuses. */
export type EventMemory = {
  readonly status: LiveStatus
  readonly observed: Readonly<Record<string, Observed>>
}

type Event = Omit<LiveEvent, 'at'>
/** `event`: null where another event reports the same. */
type Subject = { readonly value: string; readonly isCertain: boolean; readonly event: Event | null }

/** Takes the next status, at a monotonic time; `before` is null for the first one, which makes no event. */
export function nextEvents(before: EventMemory | null, status: LiveStatus, nowMs: number) {
  const observed: Record<string, Observed> = {}
  const events: Event[] = before === null ? [] : changedFaults(before.status, status)
  for (const [name, { value, isCertain, event }] of Object.entries(subjectsOf(status))) {
    const last = before?.observed[name] ?? { value, seen: value, sinceMs: nowMs }
    const sinceMs = value === last.seen ? last.sinceMs : nowMs
    const isEvent = value !== last.value && (isCertain || nowMs - sinceMs >= SETTLED_MS)
    if (isEvent && event !== null) events.push(event)
    observed[name] = { value: isEvent ? value : last.value, seen: value, sinceMs }
  }
  return { memory: { status, observed }, events }
}

function subjectsOf(status: LiveStatus): Readonly<Record<string, Subject>> {
  const { verdict, tone } = marginsOf(status).lookups
  const isQuorum = tone !== 'bad'
  const kind = isQuorum ? 'quorum' : 'no-quorum'
  const sentence = isQuorum ? 'lookups are answered' : `lookups: ${verdict}`
  const services = servicesOf(status).map(({ name, state }): [string, Subject] => {
    const [node] = name.split('.', 1)
    const isReported = status.faults.some(
      ({ spec }) => spec.node === node && STATE_OF_FAULT[spec.kind] === state,
    )
    const sentence = `${name} is ${stateLabel[state]}`
    const event = isReported ? null : ({ kind: 'state', node: name, sentence } as const)
    return [name, { value: state, isCertain: CERTAIN.includes(state), event }]
  })
  return {
    ...Object.fromEntries(services),
    quorum: { value: kind, isCertain: false, event: { kind, node: null, sentence } },
  }
}

function changedFaults(before: LiveStatus, now: LiveStatus): Event[] {
  const eventsOf = (kind: 'fault' | 'healed', [has, lacks]: readonly LiveStatus[], verb = '') =>
    (has?.faults ?? [])
      .filter(({ id }) => !lacks?.faults.some((fault) => fault.id === id))
      .map(({ spec: { node }, words }) => ({ kind, node, sentence: `${node}${verb} ${words}` }))
  return [...eventsOf('fault', [now, before]), ...eventsOf('healed', [before, now], ' no longer')]
}
