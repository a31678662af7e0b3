/**
 * The read floor (D-39): the scan proxy answers nothing older than what this validator has shown on its wallet,
 * name-entry and ledger paths, or by a certified answer. So a client reads its own writes.
 *
 * `raise` below is the one place where it rises. The answers that raise it pass through `raiseByAnswers` (wallet and
 * names), `raiseByFrames` (streams), the headers of the ledger interface, and `pipeline.ts` (certified answers). A reader
 * has a floor of its own, the verified floor of `packages/reader`; both start from the stored one.
 */
import type { RouteDef } from '@quorumscan/api'
import { isScanError } from '@quorumscan/errors'
import type { Offset } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import type { ApiRequest, Reply } from '@quorumscan/server'

export type ReadFloor = ReturnType<typeof createReadFloor>

/** @param stored - The floor that was saved before the restart. */
export function createReadFloor(replica: Pick<Replica, 'visibleOffset'>, stored: Offset) {
  let floor = Math.max(stored, replica.visibleOffset())
  return {
    offset: () => floor,
    /**
     * To be called when an answer is ready, before it is sent.
     *
     * @param offset - The newest offset whose effects the answer may contain.
     * @returns The floor.
     */
    raise(offset: Offset) {
      floor = Math.max(floor, offset)
      return floor
    },
    /** The same for an answer of the replica: raises the floor to its visible offset. */
    raiseToVisible() {
      return this.raise(replica.visibleOffset())
    },
  }
}

type AnyHandler = (request: ApiRequest<RouteDef, never>) => Promise<Reply<RouteDef>>

/** Handlers whose answers and errors raise the floor, and name it in `x-ledger-offset`. */
export function raiseByAnswers<H extends object>(readFloor: ReadFloor, handlers: H): H {
  const raising = Object.entries(handlers as Record<string, AnyHandler>).map(
    ([name, handle]): [string, AnyHandler] => [
      name,
      async (request) => {
        const answer = await answerOf(handle, request)
        const floor = String(readFloor.raiseToVisible())
        return { ...answer, headers: { ...answer.headers, 'x-ledger-offset': floor } }
      },
    ],
  )
  // Object.entries loses the keys that the type states.
  return Object.fromEntries(raising) as unknown as H
}

async function answerOf(handle: AnyHandler, request: Parameters<AnyHandler>[0]) {
  try {
    return await handle(request)
  } catch (error) {
    if (isScanError(error)) return { error, headers: {} }
    throw error // An answer to a defect has no content of the ledger.
  }
}

/** The stream, each of whose elements raises the floor before it is sent. */
export function raiseByFrames<Input, Batch, Socket extends Stream<Input, Batch>>(
  readFloor: ReadFloor,
  socket: Socket & Stream<Input, Batch>,
): Socket {
  return {
    ...socket,
    async open(input: Input) {
      const frames = await socket.open(input)
      return (async function* () {
        for await (const batch of frames) {
          readFloor.raiseToVisible()
          yield batch
        }
      })()
    },
  }
}

/** A WebSocket of any surface: what `open` resolves to is sent, a batch at a time. */
type Stream<Input, Batch> = { open(input: Input): Promise<AsyncIterable<Batch>> }
