/** The headlines of the page. Pure. */
import { marginsOf, type ServiceMargin, type Tone } from 'quorumscan/view'
import type { Status } from './api.ts'

export type Headline = Pick<ServiceMargin, 'verdict' | 'detail' | 'meter'> & {
  readonly label: string
  readonly tone: Tone
}

const UNKNOWN = {
  tone: 'idle',
  verdict: 'unknown',
  detail: 'the control plane does not answer',
  meter: null,
} as const

/** Whether lookups are answered, names registered and entries ordered, and how many failures each still tolerates. */
export function headlinesOf(status: Status): readonly Headline[] {
  return Object.entries(marginsOf(status)).map(([label, margin]) => {
    const headline = isUnknown(status) ? UNKNOWN : margin
    return { ...headline, label: capitalized(label), verdict: capitalized(headline.verdict) }
  })
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Which nodes lie, and whether that is still tolerated. */
export function liarsOf(status: Status): { readonly tone: Tone; readonly text: string } {
  const { f } = status.cluster
  if (isUnknown(status)) return { tone: 'idle', text: 'Lying nodes: unknown.' }
  const liars = status.nodes.filter((node) => node.faults.some(({ spec }) => spec.kind === 'lie'))
  if (liars.length === 0) return { tone: 'good', text: 'No node is set to lie.' }
  const names = liars.map(({ name }) => name).join(', ')
  const tone = liars.length <= f ? 'warn' : 'bad'
  return { tone, text: `Lying: ${names}. Tolerated: ${f}.` }
}

/** A status with the names of its processes and no state, for the time without a connection. */
export function unknownOf(status: Status): Status {
  const unknown = { state: 'unknown', detail: null, pid: null, redisPid: null } as const
  const position = { offset: null, recordTime: null, lag: null }
  const judged = { health: null, isHealthy: false, isCounted: false }
  const lookups = { agreement: null, p50Ms: null, p99Ms: null, lastError: null }
  const node = { ...unknown, ...position, ...judged, ...lookups, faults: [] }
  return {
    ...status,
    faults: [],
    atNodes: null,
    nodes: status.nodes.map((one) => ({ ...one, ...node })),
    validator: { ...status.validator, ...unknown },
    synchronizer: { ...status.synchronizer, ...unknown },
    members: status.members.map((member) => ({ ...member, ...unknown, ordering: null })),
  }
}

function isUnknown({ validator }: Status): boolean {
  return validator.state === 'unknown'
}
