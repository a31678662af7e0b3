/** What the page's headline says. Pure. */
import type { Status } from './api.ts'
import type { Tone } from './words.ts'

/** What the cluster can still lose of what it does. */
export type Budget = {
  readonly label: string
  readonly tone: Tone
  readonly title: string
  readonly detail: string
  /** Of how many nodes how many are there, and how many must be; null: it does not hang on a number of nodes. */
  readonly meter: { readonly have: number; readonly need: number; readonly of: number } | null
}

/** What matters first: are lookups answered, are names registered, and how much can still be lost? */
export function budgetsOf(status: Status): readonly Budget[] {
  const { n, readThreshold, confirmThreshold, blockThreshold } = status.cluster
  if (isUnknown(status))
    return ['Lookups', 'Registrations', 'Ordering'].map((label) => ({
      label,
      tone: 'idle',
      title: 'Unknown',
      detail: 'the control plane does not answer',
      meter: null,
    }))
  const up = upCount(status)
  const counted = countedCount(status)
  const members = status.members.filter(isUp).length
  const isTogether = status.members.length > 0
  const isOrdering = isTogether ? members >= blockThreshold : isUp(status.synchronizer)
  const isValidatorUp = isUp(status.validator)
  const broken = counted < up ? `, ${up - counted} not to be counted on` : ''
  return [
    budgetOf({
      label: 'Lookups',
      meter: { have: counted, need: readThreshold, of: n },
      detail: `${up} of ${n} up${broken}, ${readThreshold} must agree`,
      lost: 'Quorum lost: lookups refuse',
      warning: isValidatorUp
        ? !isOrdering && 'Soon too old: the log stands still'
        : 'None by quorum: the validator is not up',
    }),
    budgetOf({
      label: 'Registrations',
      meter: { have: up, need: confirmThreshold, of: n },
      detail: `${up} of ${n} up, ${confirmThreshold} must confirm`,
      lost: 'Registrations stand still',
      failure: isOrdering
        ? !isValidatorUp && 'None: the validator is not up'
        : 'None: the log stands still',
    }),
    isTogether
      ? budgetOf({
          label: 'Ordering',
          meter: { have: members, need: blockThreshold, of: n },
          detail: `${members} of ${n} members up, ${blockThreshold} must vote`,
          lost: 'The log stands still',
        })
      : {
          label: 'Ordering',
          tone: isOrdering ? 'good' : 'bad',
          title: isOrdering ? 'The log goes on' : 'The log stands still',
          detail: 'one synchronizer orders',
          meter: null,
        },
  ]
}

function budgetOf(input: {
  readonly label: string
  readonly meter: NonNullable<Budget['meter']>
  readonly detail: string
  /** What to say below the threshold. */
  readonly lost: string
  /** Of something else that stops it, or soon does. */
  readonly failure?: string | false
  readonly warning?: string | false
}): Budget {
  const { label, meter, detail, failure, warning } = input
  const spare = meter.have - meter.need
  const said = (tone: Tone, title: string): Budget => ({ label, tone, title, detail, meter })
  if (spare < 0) return said('bad', input.lost)
  if (failure) return said('bad', failure)
  if (warning) return said('warn', warning)
  return spare === 0 ? said('warn', 'Cannot lose any more') : said('good', `Can lose ${spare} more`)
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

function upCount(status: Status): number {
  return status.nodes.filter(isUp).length
}

/** Up, and neither lying nor cut off. */
function countedCount(status: Status): number {
  return status.nodes.filter(({ isCounted }) => isCounted).length
}

function isUp(service: { readonly state: string }): boolean {
  return service.state === 'up'
}
