/**
 * Pages of the activity history: runs of rows in the activity tree, whose size and root are a leaf of the state. A
 * proof of a run has its neighbors, so the reader itself finds that the run begins where the request says. A page may be
 * shorter than requested, and claims nothing about rows after its last one. An empty page claims that no row follows.
 */

import { isHash } from '../certificates/certificate.ts'
import type { Json } from '../encoding/canonical-json.ts'
import { memberOf, membersOf } from '../encoding/members-of.ts'
import {
  type ActivityTree,
  EVENT_ID,
  type Neighbor,
  type ProvenRow,
  type ProvenRun,
  verifyRun,
} from '../proof/activity-run.ts'
import { InvalidProof } from '../proof/invalid-proof.ts'
import type { KeyRange } from '../proof/prune.ts'
import { isNatural, malformed, verifyRanges } from '../proof/range-proof.ts'
import { isBelowOffset } from './freshness.ts'
import type { HashedNetwork } from './lookups.ts'
import {
  type ActivitiesPage,
  type CertifiedState,
  parseValue,
  type RowsQuery,
  rangeUnder,
} from './query.ts'

/** The answer of `POST /v0/activities`. */
export type ActivitiesAnswer = { readonly activities: readonly Json[] }

/** A page with its proof, as a node has it. */
export type ProvenActivities = { readonly proof: string; readonly rows: readonly ProvenRow[] }

/** The leaf of the state that has size and root of the activity tree. */
export function activityTree(): KeyRange {
  activityRange ??= rangeUnder(['a'], 1)
  return activityRange
}

// Made at first use, as an import must not need a coder.
let activityRange: KeyRange | undefined

/**
 * Rows that a state shows: those of the last `activityRetentionMicros` before it.
 *
 * @throws {RangeError} If there is no such page.
 */
export function activitiesQuery(
  { ...page }: ActivitiesPage,
  { genesis }: Pick<HashedNetwork, 'genesis'>,
): RowsQuery<ActivitiesAnswer> {
  const { pageSize, after, order, offsetMin = 0 } = page
  if (!Number.isSafeInteger(pageSize) || pageSize < 1)
    throw new RangeError('a page has at least one row')
  if (after !== null && !EVENT_ID.test(after)) throw new RangeError('no event has such an id')
  if (order !== 'asc' && order !== 'desc') throw new RangeError('the order is asc or desc')
  const answer = (rows: readonly ProvenRow[]): ActivitiesAnswer => {
    const activities = rows.map(rowValue)
    return { activities: order === 'asc' ? activities : activities.reverse() }
  }
  return {
    offset: null,
    page,
    answer,
    verify(proof, state) {
      // An earlier state has fewer rows: a walk that went back to it could end before its end.
      if (isBelowOffset(state.offset, offsetMin))
        throw new InvalidProof('NOT_PROVEN', 'a walk never goes back to an earlier offset')
      const run = verifyActivities(proof, state)
      const expiredUntil = state.at - genesis.activityRetentionMicros
      if (run.rows.length <= pageSize && isPage(run, page, expiredUntil)) return answer(run.rows)
      throw new InvalidProof('NOT_PROVEN', 'the rows are not those that were asked for')
    },
  }
}

/**
 * The run that a proof shows, whatever was asked for.
 *
 * @throws {InvalidProof} If it is not of the activity tree of this state, or not in its one form.
 */
export function verifyActivities(proof: string, state: CertifiedState): ProvenRun {
  const { run, stateProof } = parseProof(proof)
  const [leaves = []] = verifyRanges({ ...state, proof: stateProof, ranges: [activityTree()] })
  const [tree] = leaves
  if (tree === undefined) throw new InvalidProof('NOT_PROVEN', 'the state has no activity tree')
  const { proven, text } = verifyRun(run, treeOf(tree.value), state.sha256)
  if (joinActivitiesProof(text, stateProof.slice(1, -1)) === proof) return proven
  throw malformed('run')
}

function treeOf(value: string): ActivityTree {
  const tree = membersOf(parseValue(value)) as ActivityTree
  if (isNatural(tree.size) && isHash(tree.root)) return tree
  throw new InvalidProof('NOT_PROVEN', 'the state has no activity tree')
}

/** The proof of a page: the run, and the proof of `activityTree`, as a list of one range. */
export function joinActivitiesProof(run: string, state: string): string {
  return `{"run":${run},"state":[${state}]}`
}

/** Whether rows and neighbors are what a page may show. */
function isPage(
  { before, rows, behind }: ProvenRun,
  { after, order }: ActivitiesPage,
  expiredUntil: number,
): boolean {
  const isVisible = (row: Neighbor) => row.recordTime > expiredUntil
  if (!rows.every(isVisible)) return false
  if (order === 'asc') {
    const isAsked = ({ eventId }: Neighbor) => after === null || eventId > after
    const isFirst = before === null || !isVisible(before) || !isAsked(before)
    return isFirst && rows.every(isAsked) && (rows.length > 0 || behind === null)
  }
  const isAsked = ({ eventId }: Neighbor) => after === null || eventId < after
  const isLast = behind === null || !isAsked(behind)
  // An empty page is true only at the border to the rows that have expired.
  const isGone = before === null || !isVisible(before)
  const isEnd = isGone && (behind === null || isVisible(behind))
  return isLast && rows.every(isAsked) && (rows.length > 0 || isEnd)
}

function rowValue({ eventId, row }: Pick<ProvenRow, 'eventId' | 'row'>): Json {
  const value = parseValue(row) as Json
  if (memberOf(value, 'event_id') === eventId) return value
  throw new InvalidProof('NOT_PROVEN', 'a row has the place of another row')
}

function parseProof(proof: string): { readonly run: unknown; readonly stateProof: string } {
  try {
    const { run, state } = membersOf(JSON.parse(proof))
    // A state that is nested too deeply to be encoded again is not a proof, either.
    return { run, stateProof: JSON.stringify(state) ?? '' }
  } catch (cause) {
    throw malformed('run', cause)
  }
}
