/**
 * The activity history as a stream of pages that follows the ledger, oldest first. Nobody polls while nothing
 * happens: streams wait for the feed of updates, which one follower of the own replica wakes. What they then
 * send is not the replica's word but a page that enough nodes agree on.
 *
 * Spec silent: the stream needs the own replica only to be quick. Where it does not follow the log, pages
 * come every 15 s.
 */
import { type Clock, within } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import type { UpdateFeed } from '../ledger-interface/update-feed.ts'
import type { ActivitiesPage, ActivityPages, PageQuestion } from './activity-pages.ts'

/**
 * A page comes at least so often: its receipt says that nothing was held back until then. All streams look at
 * the same moments, so that those at the end of the history share one page.
 */
const PAGE_INTERVAL_MS = 15_000
/**
 * At the end of the history, between two reads of one stream: a person does not see it, and a busy ledger
 * costs the nodes five pages a second, not hundreds.
 */
const READ_INTERVAL_MS = 200
/** So long nodes may disagree, lag or be away before the client is told; it takes 45 s of silence for the end. */
const PATIENCE_MS = 10_000
const RETRY_MS = 500

export type ActivityStreamDeps = {
  readonly pages: ActivityPages
  readonly feed: Pick<UpdateFeed, 'lastUpdate' | 'waitForUpdate'>
  readonly clock: Clock
}

type Asker = Parameters<ActivityPages['read']>[1] & { readonly signal: AbortSignal }

/**
 * Pages from the question on, for as long as the signal lets it.
 *
 * @throws {ScanError} Why there has been no page for 10 s, and at once what another try does not cure.
 */
export async function* activityStream(
  deps: ActivityStreamDeps,
  first: PageQuestion,
  asker: Asker,
): AsyncGenerator<readonly string[], void, undefined> {
  const { feed, clock } = deps
  const { signal } = asker
  let question = first
  for (;;) {
    signal.throwIfAborted()
    const startedMs = clock.monotonicMs()
    const { text, last, offset } = await readPatiently(deps, question, asker)
    yield [text]
    question = { ...question, minOffset: Math.max(question.minOffset, offset) }
    if (last !== null) {
      question = { ...question, after: last }
      continue
    }
    const timeoutMs = PAGE_INTERVAL_MS - (clock.monotonicMs() % PAGE_INTERVAL_MS)
    const news = (ending: AbortSignal) => feed.waitForUpdate(offset, ending)
    await within({ clock, timeoutMs, signal }, news, () => {})
    const pauseMs = READ_INTERVAL_MS - (clock.monotonicMs() - startedMs)
    if (pauseMs > 0) await clock.delay(pauseMs, signal)
    question = { ...question, minOffset: Math.max(question.minOffset, feed.lastUpdate()) }
  }
}

/** The page, as soon as there is one. */
async function readPatiently(
  { pages, clock }: Pick<ActivityStreamDeps, 'pages' | 'clock'>,
  question: PageQuestion,
  asker: Asker,
): Promise<ActivitiesPage> {
  const startedMs = clock.monotonicMs()
  for (;;) {
    try {
      return await pages.read(question, asker)
    } catch (error) {
      asker.signal.throwIfAborted()
      if (!isScanError(error) || !error.spec.retryable) throw error
      const pauseMs = Math.max(RETRY_MS, (error.retryAfterSeconds ?? 0) * 1000)
      if (clock.monotonicMs() - startedMs + pauseMs > PATIENCE_MS) throw error
      await clock.delay(pauseMs, asker.signal)
    }
  }
}
