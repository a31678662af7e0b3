/**
 * One page of activities as a stream sends it: read like its HTTP twin, with a receipt, and shared by all
 * streams that want the same page in the same moment. At the end of the history that is most of them: when
 * the ledger moves, they ask the nodes once together.
 */
import { unitsOf, VERIFIED_MEDIA_TYPE, validatorRoutes } from '@quorumscan/api'
import {
  type Decided,
  type Genesis,
  isDecided,
  type Outcome,
  type Reader,
  type ReadRequest,
} from '@quorumscan/consensus'
import { outcomeError, quorumHeaders, readerError } from './outcome.ts'
import { quorumOptions } from './quorum-options.ts'
import { verifiedAnswer } from './receipts.ts'
import { activitiesRequest } from './requests.ts'

/** Waiting for what is read for somebody else anyway. */
const SHARED_UNITS = 1

export type PageQuestion = {
  readonly pageSize: number
  /** An event id as exclusive lower bound; null for none. */
  readonly after: string | null
  readonly quorum: string
  readonly minOffset: number
  /** null: the reader's default. */
  readonly maxAgeMs: number | null
}

export type ActivitiesPage = {
  readonly offset: number
  /** event_id of its last row; null where it has none. */
  readonly last: string | null
  /** `{status, answer, receipt, headers}` as JSON. */
  readonly text: string
}

export type ActivityPages = {
  /**
   * @param asker.charge - Takes units off the asker's budget; its errors are passed on.
   * @throws {ScanError} INVALID_QUORUM, RATE_LIMITED, or why there is no page now.
   */
  read(
    question: PageQuestion,
    asker: { readonly requestId: string; readonly charge: (units: number) => void },
  ): Promise<ActivitiesPage>
}

export function createActivityPages(deps: {
  readonly reader: Pick<Reader, 'read'>
  readonly genesis: Genesis
  readonly genesisHash: string
}): ActivityPages {
  const { reader, genesis, genesisHash } = deps
  const underWay = new Map<string, Promise<ActivitiesPage>>()

  const readPage = async (question: PageQuestion, requestId: string): Promise<ActivitiesPage> => {
    const { quorum, minOffset, maxAgeMs } = question
    const request = requestOf(question)
    const options = quorumOptions(
      {
        query: { quorum },
        headers: {
          accept: VERIFIED_MEDIA_TYPE,
          'x-min-offset': minOffset,
          ...(maxAgeMs === null ? {} : { 'x-max-age-ms': maxAgeMs }),
        },
        // Whoever stops waiting stops nobody else; the reader bounds the wait itself (D-38).
        signal: new AbortController().signal,
        forward: { 'x-request-id': requestId },
      },
      genesis,
    )
    const outcome: Outcome = await reader.read(request, options).catch((error: unknown) => {
      throw readerError(error)
    })
    if (!isDecided(outcome)) throw outcomeError(outcome)
    return pageOf(outcome, { request, genesisHash })
  }

  return {
    async read(question, asker) {
      const key = JSON.stringify(question)
      const shared = underWay.get(key)
      asker.charge(shared === undefined ? unitsOfPage(question) : SHARED_UNITS)
      if (shared !== undefined) return await shared
      const page = readPage(question, asker.requestId).finally(() => underWay.delete(key))
      underWay.set(key, page)
      return await page
    },
  }
}

function requestOf({ pageSize, after }: PageQuestion): ReadRequest {
  return activitiesRequest({ page_size: pageSize, begin_after_id: after })
}

/** What the HTTP twin costs, its signed answer included (D-33). */
function unitsOfPage({ pageSize }: PageQuestion): number {
  return unitsOf(validatorRoutes.proxyListActivities, {
    params: {},
    query: {},
    headers: { accept: VERIFIED_MEDIA_TYPE },
    body: { page_size: pageSize },
  })
}

function pageOf(
  outcome: Decided,
  question: { readonly request: ReadRequest; readonly genesisHash: string },
): ActivitiesPage {
  const { body } = verifiedAnswer(outcome, question)
  // The reader has checked that it is an answer to this operation.
  const { activities } = JSON.parse(decoder.decode(outcome.answer)) as {
    activities: readonly { readonly event_id: string }[]
  }
  const whole = decoder.decode(body)
  const headers = JSON.stringify(quorumHeaders(outcome))
  return {
    offset: outcome.offset,
    last: activities.at(-1)?.event_id ?? null,
    // What HTTP has beside the body is one more member here.
    text: `${whole.slice(0, -1)},"headers":${headers}}`,
  }
}

const decoder = new TextDecoder()
