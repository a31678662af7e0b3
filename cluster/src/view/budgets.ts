/**
 * What of a cluster works, and how much more it can lose: decided here for `status`, `up`, events and the console
 * alike. Pure; imports nothing but words, so that a page can have it.
 */
import { isAnswer } from '@quorumscan/errors/node-words'
import type { Tone } from './words.ts'

type Service = { readonly state: string }

/** What is looked at of a status. */
export type Judged = {
  readonly cluster: {
    readonly n: number
    readonly readThreshold: number
    readonly confirmThreshold: number
    readonly blockThreshold: number
  }
  /** `isCounted`: lookups can count on its vote. Where that is unknown, on that of each that is up. */
  readonly nodes: readonly (Service & { readonly isCounted?: boolean })[]
  readonly validator: Service
  /** The one that the validator follows. */
  readonly synchronizer: Service
  readonly members: readonly Service[]
  /** What a reader of the nodes got last; null where none reads. */
  readonly atNodes?: { readonly kind: string } | null
}

/** Of lookups, registrations or ordering. */
export type Budget = {
  /** Whether it works now. */
  readonly works: boolean
  readonly tone: Exclude<Tone, 'idle'>
  /** In a few words. */
  readonly verdict: string
  /** How many are there, and how many must be. */
  readonly detail: string
  /** Of how many nodes or members; null: it does not depend on a number of them. */
  readonly meter: { readonly have: number; readonly need: number; readonly of: number } | null
}

const STANDS_STILL = 'the log stands still'

export function budgetsOf(status: Judged) {
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
  const works = status.atNodes == null ? have >= need && isOrdering : isAnswer(status.atNodes.kind)
  const meter = { have, need, of: n }
  const rest = { works, detail: `${up} of ${n} nodes up${broken}, ${need} must agree`, meter }
  const budget = (tone: Budget['tone'], verdict: string) => ({ ...rest, tone, verdict })
  if (have < need)
    return budget('bad', works ? 'quorum lost, answered by proofs alone' : 'quorum lost')
  if (!works) return budget('bad', isOrdering ? 'not answered all the same' : STANDS_STILL)
  if (!isOrdering) return budget('warn', `soon too old: ${STANDS_STILL}`)
  // It answers lookups before it is ready.
  return ['up', 'catching-up'].includes(status.validator.state)
    ? { ...rest, ...spareOf(meter) }
    : budget('warn', 'by the nodes alone: the validator is not up')
}

function registrationsOf(status: Judged, isOrdering: boolean): Budget {
  const { n, confirmThreshold: need } = status.cluster
  const have = status.nodes.filter(isUp).length
  const meter = { have, need, of: n }
  const rest = { detail: `${have} of ${n} nodes up, ${need} must confirm`, meter }
  const problem = !isOrdering
    ? STANDS_STILL
    : !isUp(status.validator)
      ? `the validator is not ${status.validator.state === 'catching-up' ? 'ready' : 'up'}`
      : !isUp(status.synchronizer)
        ? 'the synchronizer beside the validator is not up'
        : null
  return have >= need && problem !== null
    ? { ...rest, works: false, tone: 'bad', verdict: `none: ${problem}` }
    : { ...rest, works: have >= need, ...spareOf(meter) }
}

/** Of one synchronizer, or of so many members as make a block. */
function orderingOf({ cluster, synchronizer, members }: Judged): Budget {
  const { n, blockThreshold: need } = cluster
  const have = members.filter(isUp).length
  const meter = { have, need, of: n }
  if (members.length > 0)
    return {
      ...{ works: have >= need, detail: `${have} of ${n} members up, ${need} must vote`, meter },
      ...spareOf(meter),
    }
  const works = isUp(synchronizer)
  return {
    ...{ works, detail: 'one synchronizer orders', meter: null },
    ...(works
      ? { tone: 'good', verdict: 'the log goes on' }
      : { tone: 'bad', verdict: STANDS_STILL }),
  }
}

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
