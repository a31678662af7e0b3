/** What the page's headline says. Pure. */
import { type Budget, budgetsOf, type Tone } from 'quorumscan/view'
import type { Status } from './api.ts'

export type Headline = Pick<Budget, 'detail' | 'meter'> & {
  readonly label: string
  readonly tone: Tone
  readonly title: string
}

/** What matters first: are lookups answered, are names registered, and how much can still be lost? */
export function headlinesOf(status: Status): readonly Headline[] {
  return Object.entries(budgetsOf(status)).map(([what, { tone, verdict, detail, meter }]) =>
    isUnknown(status)
      ? {
          label: capitalized(what),
          ...{ tone: 'idle', title: 'Unknown', detail: 'the control plane does not answer' },
          meter: null,
        }
      : { label: capitalized(what), tone, title: capitalized(verdict), detail, meter },
  )
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Who lies, and whether that is still tolerated. */
export function liarsOf(status: Status): { readonly tone: Tone; readonly text: string } {
  const { f } = status.cluster
  if (isUnknown(status)) return { tone: 'idle', text: 'Who lies is unknown.' }
  const liars = status.nodes.filter((node) => node.faults.some(({ spec }) => spec.kind === 'lie'))
  const names = liars.map(({ name }) => name).join(', ')
  return {
    tone: liars.length === 0 ? 'good' : liars.length <= f ? 'warn' : 'bad',
    text: liars.length === 0 ? 'Nobody is known to lie.' : `Lying: ${names}; tolerated: ${f}.`,
  }
}

/** What is left of a state that nobody tells any more: who there is, and nothing of how they are. */
export function unknownOf(status: Status): Status {
  const unknown = { state: 'unknown', detail: null, pid: null, redisPid: null } as const
  return {
    ...status,
    faults: [],
    atNodes: null,
    nodes: status.nodes.map((node) => ({
      ...node,
      ...unknown,
      ...{ offset: null, recordTime: null, lag: null, isCounted: false },
      ...{ agreement: null, p50Ms: null, p99Ms: null, lastError: null, faults: [] },
    })),
    validator: { ...status.validator, ...unknown },
    synchronizer: { ...status.synchronizer, ...unknown },
    members: status.members.map((member) => ({ ...member, ...unknown, ordering: null })),
  }
}

function isUnknown({ validator }: Status): boolean {
  return validator.state === 'unknown'
}
