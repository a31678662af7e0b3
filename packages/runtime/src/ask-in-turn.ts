/**
 * Asks sources in turn until one proves its answer. A source that is silent for 150 ms does not delay the answer: another one
 * is asked as well. A source that proves nothing, or that hangs while another one answers, loses its place
 * (`penalties.ts`).
 */
import { type Clock, linkedController, withResolvers } from '@quorumscan/base'
import { askAll, HEDGE_MS_MAX } from '@quorumscan/reader'
import type { Penalties } from './penalties.ts'

export { askAll, HEDGE_MS_MAX }

/**
 * What a source answered:
 * - `proven`: it ends the turn;
 * - `doubtful`: another source can show that it is wrong or old, which costs the source its place;
 * - `unable`: it says that it cannot answer now.
 *
 * Any other answer, or none, is a rejection: it costs the source its place.
 */
export type SourceAnswer<Answer> =
  | { readonly kind: 'proven'; readonly answer: Answer }
  | { readonly kind: 'doubtful' | 'unable' }

/**
 * The first proven answer, with its source; null: no source has one.
 *
 * @throws The signal's reason when aborted.
 */
export function askInTurn<Source extends object, Answer>(options: {
  /** In the order in which they are asked, but for penalties. */
  readonly sources: readonly Source[]
  readonly penalties: Penalties<Source>
  readonly clock: Pick<Clock, 'delay'>
  readonly signal: AbortSignal
  /** Ends when the signal aborts, or at a deadline of its own. */
  readonly ask: (source: Source, signal: AbortSignal) => Promise<SourceAnswer<Answer>>
  /**
   * Called each 150 ms without a proven answer. Default: true.
   *
   * @returns Whether another source is asked as well.
   */
  readonly needsAnother?: () => boolean
}): Promise<{ readonly source: Source; readonly answer: Answer } | null> {
  const { penalties, clock, needsAnother = () => true } = options
  const rest = [...penalties.inOrder(options.sources)]
  /** Those that have not answered, in the order in which they were asked. */
  const open: Source[] = []
  const doubtful: Source[] = []
  const ended = linkedController(options.signal)
  const { signal } = ended
  let waiting = new AbortController()
  const { promise, resolve, reject } = withResolvers<{
    readonly source: Source
    readonly answer: Answer
  } | null>()

  const onAnswer = (source: Source, reply: SourceAnswer<Answer> | null): void => {
    if (signal.aborted) return
    const index = open.indexOf(source)
    if (reply?.kind === 'proven') {
      // Those that were asked before it hang.
      for (const other of [...open.slice(0, index), ...doubtful]) penalties.note(other)
      resolve({ source, answer: reply.answer })
      return
    }
    open.splice(index, 1)
    if (reply === null) penalties.note(source)
    else if (reply.kind === 'doubtful') doubtful.push(source)
    askNext()
  }
  const wait = (): void => {
    waiting.abort()
    waiting = linkedController(signal)
    const onSilence = () => (needsAnother() ? askNext() : wait())
    clock.delay(HEDGE_MS_MAX, waiting.signal).then(onSilence, () => {})
  }
  const askNext = (): void => {
    const source = rest.shift()
    if (source === undefined) {
      if (open.length === 0) resolve(null)
      return
    }
    open.push(source)
    options.ask(source, signal).then(
      (reply) => onAnswer(source, reply),
      () => onAnswer(source, null),
    )
    if (rest.length > 0) wait()
  }

  const leave = () => reject(options.signal.reason)
  if (options.signal.aborted) leave()
  else {
    options.signal.addEventListener('abort', leave)
    askNext()
  }
  return promise.finally(() => {
    options.signal.removeEventListener('abort', leave)
    ended.abort()
    waiting.abort()
  })
}
