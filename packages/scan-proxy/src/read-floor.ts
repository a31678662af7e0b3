/**
 * Read your writes (D-39): what this validator has shown anybody on its wallet, name-entry and ledger paths, and by
 * certified answers, as one offset. The scan proxy answers nothing that is older.
 */

import type { RouteDef } from '@quorumscan/api'
import { isScanError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { Reader } from '@quorumscan/reader'
import type { Replica } from '@quorumscan/replica'
import type { ApiRequest, Reply } from '@quorumscan/server'

export interface Shown {
  /** The newest offset that anybody may have been shown. */
  offset(): Offset
  /** To be called when an answer is ready: the newest offset that it may show. */
  note(): Offset
  /** The same of a certified answer, which a node may have given: it may be ahead of the replica. */
  noteCertified(answer: { readonly offset: Offset }): void
}

/** @param floor - What nodes showed before a restart; what the replica showed is not newer than what it holds. */
export function createShown(replica: Pick<Replica, 'visibleOffset'>, floor: Offset): Shown {
  let offset = Math.max(floor, replica.visibleOffset())
  return {
    offset: () => offset,
    note: () => {
      offset = Math.max(offset, replica.visibleOffset())
      return offset
    },
    noteCertified(answer) {
      offset = Math.max(offset, answer.offset)
    },
  }
}

/** The reader, none of whose answers is older than what was shown. A walk stays at its own offset. */
export function readNotBefore(shown: Shown, reader: Reader): Reader {
  const floored = <O extends { readonly minOffset?: number | undefined }>(options: O): O => ({
    ...options,
    minOffset: Math.max(options.minOffset ?? 0, shown.offset()),
  })
  return {
    ...reader,
    lookup: (lookups, options = {}) => reader.lookup(lookups, floored(options)),
    read: (request, options = {}) =>
      reader.read(request, request.pin === 'request' ? options : floored(options)),
  }
}

type AnyHandler = (request: ApiRequest<RouteDef, never>) => Promise<Reply<RouteDef>>

/** Handlers whose answers and errors are noted, and say up to where in `x-ledger-offset`. */
export function noteAnswers<H extends object>(shown: Shown, handlers: H): H {
  const noted = Object.entries(handlers as Record<string, AnyHandler>).map(
    ([name, handle]) => [name, noteAnswer(shown, handle)] as const,
  )
  // Object.entries loses the keys that the type states.
  return Object.fromEntries(noted) as unknown as H
}

function noteAnswer(shown: Shown, handle: AnyHandler): AnyHandler {
  return async (request) => {
    const answer = await answerOf(handle, request)
    return { ...answer, headers: { ...answer.headers, 'x-ledger-offset': String(shown.note()) } }
  }
}

async function answerOf(handle: AnyHandler, request: Parameters<AnyHandler>[0]) {
  try {
    return await handle(request)
  } catch (error) {
    if (isScanError(error)) return { error, headers: {} }
    throw error // A bug shows nothing.
  }
}

/** The stream, whose elements are noted before they are sent. */
export function noteFrames<Input, Batch, Socket extends Stream<Input, Batch>>(
  shown: Shown,
  socket: Socket & Stream<Input, Batch>,
): Socket {
  return {
    ...socket,
    async open(input: Input) {
      const frames = await socket.open(input)
      return (async function* () {
        for await (const batch of frames) {
          shown.note()
          yield batch
        }
      })()
    },
  }
}

/** A WebSocket of any surface: what `open` resolves to is sent, a batch at a time. */
type Stream<Input, Batch> = { open(input: Input): Promise<AsyncIterable<Batch>> }
