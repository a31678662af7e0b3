/** The health of a process, as it reports it: whether it is ready, its offset, and its part in ordering. */

import { MICROS_PER_MS } from '@quorumscan/base'
import { MEMBER_HEALTHS, type NodeState } from '@quorumscan/errors/node-words'
import { membersOf } from '@quorumscan/verifier'
import { z } from 'zod'
import { ask, type HttpReply } from './ask.ts'
import { CLOCK_TOLERANCE_MICROS, describeClockSkew } from './clock-comparison.ts'
import { CLOCK_SKEW_HEADER, DETAIL_HEADER } from './peer-clocks.ts'

/** A healthy process answers its health routes within milliseconds. A paused one never does. */
const HEALTH_MS_MAX = 1000

/** A process may be broken, or another program: a value of another form counts as not reported. */
const reportedOffset = z.int().min(0).nullable().catch(null)
const reportedOrdering = z
  .object({
    /** The height of its newest block. */
    height: z.int(),
    /** The round in which the block before was decided; above 0, a proposer was missing. */
    round: z.int().nullable(),
    /** Members whose engines are connected to its own. */
    connected: z.array(z.string()),
    /** Members whose votes on that block are missing. */
    absent: z.array(z.string()),
  })
  .nullable()
  .catch(null)

/** The report of a synchronizer that orders with others about its engine. */
export type OrderingReport = NonNullable<z.output<typeof reportedOrdering>>

const reportedMembers = z
  .array(
    z.object({
      name: z.string(),
      health: z.enum(MEMBER_HEALTHS),
      signedOffset: z.int().min(0).nullable(),
      unsignedSeconds: z.int().min(0),
    }),
  )
  .nullable()
  .catch(null)

/** How a process judges each super-validator (D-87). */
export type MemberReport = NonNullable<z.output<typeof reportedMembers>>[number]

export type Health = {
  readonly state: Extract<NodeState, 'starting' | 'catching-up' | 'up'>
  readonly detail: string | null
  /** The code of its refusal. */
  readonly code: string | null
  /** Whether it waits until others have rebuilt their replicas: not an error while they make progress. */
  readonly isWaitingForRebuildTurn: boolean
  /** Whether it will not continue by itself. */
  readonly isStalled: boolean
  /** End of its replica, or of the log that it writes. */
  readonly offset: number | null
  readonly recordTime: string | null
  readonly ordering: OrderingReport | null
  /** Its judgements of the super-validators; null: it makes none. */
  readonly members: readonly MemberReport[] | null
}

/**
 * Asks the process at this address, which includes its mount point; null if it does not answer in time.
 *
 * @param timeoutMs - For each of two requests.
 */
export async function fetchHealth(url: string, timeoutMs = HEALTH_MS_MAX): Promise<Health | null> {
  const [ready, status] = await Promise.all([
    ask(`${url}/readyz`, { timeoutMs }),
    ask(`${url}/status`, { timeoutMs }),
  ])
  // 502: `run`, which passes the request on, had no answer of the process.
  if (ready.status === null || ready.status === 502) return null
  const { offset = null, recordTime, ordering = null, members = null } = reportedBy(status.body)
  return {
    ...readinessOf(ready),
    offset: reportedOffset.parse(offset),
    recordTime: typeof recordTime === 'string' ? recordTime : null,
    ordering: reportedOrdering.parse(ordering),
    members: reportedMembers.parse(members),
  }
}

type Reported = Partial<Record<'offset' | 'recordTime' | 'ordering' | 'members', unknown>>

/** What the body of `/status` reports; nothing, if it has another form. */
function reportedBy(body: unknown): Reported {
  const success = membersOf(membersOf(body)['success'])
  return membersOf(success['extra'])
}

function readinessOf({ status, headers, body }: HttpReply) {
  const { code, error, details, retryable } = membersOf(body)
  // A full log can be read.
  const isUp = status === 200 || code === 'LOG_FULL'
  const { state } = membersOf(details)
  return {
    state: isUp ? 'up' : state === 'starting' ? 'starting' : 'catching-up',
    code: typeof code === 'string' ? code : null,
    isWaitingForRebuildTurn: state === 'waiting-to-rebuild',
    isStalled: !isUp && retryable === false,
    detail:
      status === 200
        ? (headers.get(DETAIL_HEADER) ?? clockDetail(headers))
        : String(error ?? `HTTP ${status}`),
  } as const
}

/** The clock skew of a ready process that may stop it. */
function clockDetail(headers: Headers): string | null {
  const skewMicros = Number(headers.get(CLOCK_SKEW_HEADER)) * MICROS_PER_MS
  return Math.abs(skewMicros) > CLOCK_TOLERANCE_MICROS
    ? `its clock is ${describeClockSkew(skewMicros, 'those of its peers')}`
    : null
}
