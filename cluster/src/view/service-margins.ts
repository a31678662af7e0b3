/**
 * Which parts of a cluster work, and how many further failures they tolerate: decided here for `status`, `up`, events and
 * the console. Pure. Imports only words, so that a page can import it.
 */
import { isAnswer } from '@quorumscan/errors/node-words'
import type { ClusterStatus } from '../rig/status.ts'
import type { Tone } from './words.ts'

type Service = { readonly state: string }

/** The part of a status that counts. */
export type MarginInput = {
  readonly cluster: Omit<ClusterStatus['cluster'], 'f' | 'genesisHash' | 'ordering'>
  /** `isHealthy`: the node counts (D-87). `isCounted`: lookups can count on its vote, too. */
  readonly nodes: readonly (Service & {
    readonly isHealthy: boolean
    readonly isCounted: boolean
  })[]
  readonly validator: Service
  /** The synchronizer that the validator follows. */
  readonly synchronizer: Service
  readonly members: readonly Service[]
  /** The latest outcome of a reader of the nodes; null without one. */
  readonly atNodes: { readonly kind: string } | null
}

/** The state of lookups, registrations or ordering. */
export type ServiceMargin = {
  readonly works: boolean
  readonly tone: Exclude<Tone, 'idle'>
  /** In a few words. */
  readonly verdict: string
  /** How many nodes or members are up, and how many are needed. */
  readonly detail: string
  /** The same as numbers; null where it depends on one process. */
  readonly meter: { readonly have: number; readonly need: number; readonly of: number } | null
}

const STALLED = 'ordering is stalled'

/** In the order in which they are shown. */
export function marginsOf(status: MarginInput) {
  const ordering = orderingOf(status)
  const lookups = lookupsOf(status, ordering.works)
  const registrations = registrationsOf(status, ordering.works)
  return { lookups, registrations, ordering }
}

/** The outcome of a reader counts for more than the number of nodes that are up: a liar may sign true statements. */
function lookupsOf(status: MarginInput, isOrdering: boolean): ServiceMargin {
  const { n, readThreshold: need } = status.cluster
  const have = status.nodes.filter(({ isCounted }) => isCounted).length
  const works = status.atNodes === null ? have >= need && isOrdering : isAnswer(status.atNodes.kind)
  const meter = { have, need, of: n }
  const rest = { works, detail: `${countNodes(status, have)}, ${need} must agree`, meter }
  const margin = (tone: ServiceMargin['tone'], verdict: string) => ({ ...rest, tone, verdict })
  if (have < need)
    return margin('bad', works ? 'too few nodes, answered only by proofs' : 'too few nodes')
  if (!works) return margin('bad', isOrdering ? 'not answered' : STALLED)
  if (!isOrdering) return margin('warn', `soon outdated: ${STALLED}`)
  // It answers lookups before it is ready.
  return ['up', 'catching-up'].includes(status.validator.state)
    ? { ...rest, ...marginOf(meter) }
    : margin('warn', 'only at the nodes: the validator is not up')
}

function registrationsOf(status: MarginInput, isOrdering: boolean): ServiceMargin {
  const { n, confirmThreshold: need } = status.cluster
  const have = status.nodes.filter(({ isHealthy }) => isHealthy).length
  const meter = { have, need, of: n }
  const rest = { detail: `${countNodes(status, have)}, ${need} must confirm`, meter }
  const problem = registrationProblem(status, isOrdering)
  return have >= need && problem !== null
    ? { ...rest, works: false, tone: 'bad', verdict: `stopped: ${problem}` }
    : { ...rest, works: have >= need, ...marginOf(meter) }
}

/** How many nodes are up, and how many of them do not count. */
function countNodes({ cluster, nodes }: MarginInput, have: number): string {
  const up = nodes.filter(isUp).length
  const faulty = have < up ? `, ${up - have} faulty` : ''
  return `${up} of ${cluster.n} nodes up${faulty}`
}

function registrationProblem({ validator, synchronizer }: MarginInput, isOrdering: boolean) {
  if (!isOrdering) return STALLED
  if (validator.state === 'catching-up') return 'the validator is not ready'
  if (!isUp(validator)) return 'the validator is not up'
  return isUp(synchronizer) ? null : "the validator's synchronizer is not up"
}

/** By one synchronizer, or by the members that a block needs. */
function orderingOf({ cluster, synchronizer, members }: MarginInput): ServiceMargin {
  const { n, blockThreshold: need } = cluster
  if (members.length === 0) {
    const works = isUp(synchronizer)
    const rest = { works, detail: 'one synchronizer orders', meter: null }
    if (!works) return { ...rest, tone: 'bad', verdict: 'stalled' }
    return { ...rest, tone: 'good', verdict: 'healthy' }
  }
  const have = members.filter(isUp).length
  const meter = { have, need, of: n }
  const detail = `${have} of ${n} members up, ${need} must vote`
  return { works: have >= need, detail, meter, ...marginOf(meter) }
}

function marginOf(meter: { readonly have: number; readonly need: number }) {
  const margin = meter.have - meter.need
  if (margin < 0) return { tone: 'bad', verdict: 'quorum lost' } as const
  return margin === 0
    ? ({ tone: 'warn', verdict: 'no further failure tolerated' } as const)
    : ({ tone: 'good', verdict: `failures tolerated: ${margin}` } as const)
}

function isUp({ state }: Service): boolean {
  return state === 'up'
}
