/**
 * What of a cluster works, and how much more it can lose: decided here for `status`, `up`, events and the console
 * alike. Pure; imports nothing but words, so that a page can have it.
 */
import { isAnswer } from '@quorumscan/errors/node-words'

type Service = { readonly state: string }

/** What is looked at of a status. */
export type Judged = {
  readonly cluster: {
    readonly n: number
    readonly readThreshold: number
    readonly confirmThreshold: number
    readonly blockThreshold: number
  }
  /** `isCounted`: lookups can count on its vote. Where nobody knows, on that of each that is up. */
  readonly nodes: readonly (Service & { readonly isCounted?: boolean })[]
  readonly validator: Service
  /** The one that the validator follows. */
  readonly synchronizer: Service
  readonly members: readonly Service[]
  /** What a reader of the nodes got last; null where nobody reads. */
  readonly atNodes?: { readonly kind: string } | null
}

/** Of lookups, registrations or ordering. */
export type Budget = {
  /** Whether it works now. */
  readonly works: boolean
  readonly tone: 'good' | 'warn' | 'bad'
  /** In a few words. */
  readonly verdict: string
  /** How many are there, and how many must be. */
  readonly detail: string
  /** Of how many nodes or members; null: it does not hang on a number of them. */
  readonly meter: { readonly have: number; readonly need: number; readonly of: number } | null
}

export type Budgets = {
  readonly lookups: Budget
  readonly registrations: Budget
  readonly ordering: Budget
}

export function budgetsOf(status: Judged): Budgets {
  const ordering = orderingOf(status)
  return {
    lookups: lookupsOf(status, ordering.works),
    registrations: registrationsOf(status, ordering.works),
    ordering,
  }
}

/** What a reader of the nodes got counts for more than what is up: what a liar signs may be true as well. */
function lookupsOf(status: Judged, isOrdering: boolean): Budget {
  const { n, readThreshold: need } = status.cluster
  const up = status.nodes.filter(isUp).length
  const have = status.nodes.filter((node) => node.isCounted ?? isUp(node)).length
  const broken = have < up ? `, ${up - have} not to be counted on` : ''
  const { atNodes = null } = status
  const works = atNodes === null ? have >= need && isOrdering : isAnswer(atNodes.kind)
  const detail = `${up} of ${n} nodes up${broken}, ${need} must agree`
  const meter = { have, need, of: n }
  if (have < need)
    return {
      ...{ works, tone: 'bad', detail, meter },
      verdict: works ? 'quorum lost, answered by proofs alone' : 'quorum lost',
    }
  if (!works)
    return {
      ...{ works, tone: 'bad', detail, meter },
      verdict: isOrdering ? 'not answered all the same' : STANDS_STILL,
    }
  const problem = !isOrdering
    ? `soon too old: ${STANDS_STILL}`
    : // It answers lookups before it is ready.
      !['up', 'catching-up'].includes(status.validator.state)
      ? 'by the nodes alone: the validator is not up'
      : null
  if (problem !== null) return { works, tone: 'warn', verdict: problem, detail, meter }
  return { works, ...spareOf(meter), detail, meter }
}

function registrationsOf(status: Judged, isOrdering: boolean): Budget {
  const { n, confirmThreshold: need } = status.cluster
  const have = status.nodes.filter(isUp).length
  const detail = `${have} of ${n} nodes up, ${need} must confirm`
  const meter = { have, need, of: n }
  const problem = !isOrdering
    ? STANDS_STILL
    : !isUp(status.validator)
      ? `the validator is not ${status.validator.state === 'catching-up' ? 'ready' : 'up'}`
      : !isUp(status.synchronizer)
        ? 'the synchronizer beside the validator is not up'
        : null
  if (have >= need && problem !== null)
    return { works: false, tone: 'bad', verdict: `none: ${problem}`, detail, meter }
  return { works: have >= need, ...spareOf(meter), detail, meter }
}

/** Of one synchronizer, or of so many members as make a block. */
function orderingOf({ cluster, synchronizer, members }: Judged): Budget {
  if (members.length === 0) {
    const works = isUp(synchronizer)
    return {
      works,
      tone: works ? 'good' : 'bad',
      verdict: works ? 'the log goes on' : STANDS_STILL,
      detail: 'one synchronizer orders',
      meter: null,
    }
  }
  const { n, blockThreshold: need } = cluster
  const have = members.filter(isUp).length
  const meter = { have, need, of: n }
  const detail = `${have} of ${n} members up, ${need} must vote`
  return { works: have >= need, ...spareOf(meter), detail, meter }
}

const STANDS_STILL = 'the log stands still'

function spareOf(meter: { readonly have: number; readonly need: number }) {
  const spare = meter.have - meter.need
  if (spare < 0) return { tone: 'bad', verdict: 'quorum lost' } as const
  return spare === 0
    ? ({ tone: 'warn', verdict: 'no more can be lost' } as const)
    : ({ tone: 'good', verdict: `${spare} more can be lost` } as const)
}

function isUp({ state }: Service): boolean {
  return state === 'up'
}
