/**
 * One WebSocket, from its first frame to its end (D-28, docs/upstream.md §L3.6):
 *   first frame      within 10 s and of a bounded size: an error as a frame, or close 1008, 1009
 *   elements         one object for each frame, no faster than the client reads: a client that reads nothing for
 *                    30 s is closed (1013), and one that answers no ping; an error is the last frame
 *   end              1000 after the end of the stream, 1001 when the process stops
 *
 * Memory for a connection is bounded: while the socket takes a batch, one further batch is made. Batches that wait until
 * the client reads count with its unread answers.
 */
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { afterDelay, type Clock, withTimeout } from '@quorumscan/base'
import type { WebSocket } from 'ws'
import { discardInput } from '../closing.ts'
import { countUnread } from '../listener.ts'
import { textFrames } from './text-frames.ts'

/** JSON texts to send, one for each frame, in batches. */
export type Frames = AsyncIterable<readonly string[]>

/** Called once, with the client's first frame. Its stream ends or fails when the signal aborts. */
export type OpenStream = (frame: Buffer, signal: AbortSignal) => Promise<Frames>

const FIRST_FRAME_MS = 10_000
/** Frames of a client: the first, and pings and pongs, of which no client needs more than one per second. */
const FRAME_MS_MIN = 1_000
/** Frames that a client may send ahead of that rate. */
const FRAMES_FREE = 64
/** A client that does not take one buffer of frames in this time does not read. */
const STALLED_MS = 30_000
/** The time for a client to answer a close. */
export const CLOSE_MS = 2_000

/** RFC 6455 §7.4.1, and 1013 of its registry. */
export const CLOSED = { done: 1000, leaving: 1001, refused: 1008, tooSlow: 1013 } as const

type Served = {
  readonly webSocket: WebSocket
  /** The connection below the WebSocket. */
  readonly connection: Duplex
  readonly clock: Clock
}

/** Never rejects. */
export async function serve(
  served: Served,
  options: {
    readonly open: OpenStream
    readonly onMade?: ((bytes: number) => void) | undefined
    readonly lastFrame: (error: unknown) => string
    readonly noteFailure: (error: unknown) => void
  },
): Promise<void> {
  const { webSocket, connection, clock } = served
  const closed = new AbortController()
  const { signal } = closed
  webSocket.once('close', () => closed.abort())
  boundFrames(webSocket, clock)
  // Unless it is closed in time.
  const terminateSoon = () =>
    afterDelay({ clock, ms: CLOSE_MS, signal }, () => webSocket.terminate())
  // After a malformed frame, the library closes, and would read on for half a minute.
  webSocket.on('error', () => {
    discardInput(connection)
    void terminateSoon()
  })
  const close = (code: number, reason: string) => {
    webSocket.close(code, reason)
    void terminateSoon()
  }
  try {
    const frame = await withTimeout(
      { clock, timeoutMs: FIRST_FRAME_MS, signal },
      // A malformed frame closes the socket, which ends the wait.
      () => new Promise<Buffer>((resolve) => webSocket.once('message', resolve)),
      () => null,
    )
    if (frame === null) return close(CLOSED.refused, 'no request came within 10 s')
    const { onMade = () => {} } = options
    const client = { ...served, closed: signal, onMade }
    const sent = await deliver(await options.open(frame, signal), client)
    if (sent === 'taken') close(CLOSED.done, '')
    else if (sent === 'stalled') close(CLOSED.tooSlow, 'the client does not read')
  } catch (error) {
    if (signal.aborted) return
    options.noteFailure(error)
    webSocket.send(options.lastFrame(error))
    close(CLOSED.done, '')
  }
}

/** Ends a connection whose client sends too many frames: they cost their sender next to nothing. */
function boundFrames(webSocket: WebSocket, clock: Clock): void {
  const openedMs = clock.monotonicMs()
  let count = 0
  const onFrame = () => {
    count++
    if (count > FRAMES_FREE + (clock.monotonicMs() - openedMs) / FRAME_MS_MIN) webSocket.terminate()
  }
  webSocket.on('message', onFrame).on('ping', onFrame).on('pong', onFrame)
}

/** `gone`: the connection is closed, or on its way there, by either side. */
type Sent = 'taken' | 'stalled' | 'gone'

type Client = Served & {
  readonly closed: AbortSignal
  /** Receives the size of each batch. */
  readonly onMade: (bytes: number) => void
}

/** Sends a stream to its end. While the client takes a batch, the next one is made. */
async function deliver(elements: Frames, client: Client): Promise<Sent> {
  let sending: Promise<Sent> = Promise.resolve('taken')
  try {
    for await (const batch of elements) {
      const bytes = sizeOf(batch)
      client.onMade(bytes)
      const release = countUnread(client.connection, bytes)
      const before = await sending
      release()
      if (before !== 'taken') break
      sending = send(batch, client)
    }
  } catch (error) {
    // Elements before an error are sent before it.
    if ((await sending) === 'taken') throw error
  }
  return await sending
}

/** Its characters: nearly all are bytes. */
function sizeOf(batch: readonly string[]): number {
  let size = 0
  for (const text of batch) size += text.length
  return size
}

/** Sends each element as a frame. Resolves when the kernel has taken all, or the client takes no more. */
async function send(batch: readonly string[], client: Client): Promise<Sent> {
  const { webSocket, connection, clock, closed } = client
  for (const frames of textFrames(batch)) {
    // A closing socket accepts everything at once, which would not slow down the stream.
    if (webSocket.readyState !== webSocket.OPEN) return 'gone'
    let isTaken = false
    const taken = new Promise<Sent>((resolve) => {
      connection.write(frames, () => {
        isTaken = true
        resolve('taken')
      })
    })
    // Most are taken at once. Other work of this process runs meanwhile.
    await setImmediate()
    if (isTaken) continue
    const release = countUnread(connection, sizeOf(batch))
    const bound = { clock, timeoutMs: STALLED_MS, signal: closed }
    const stalled = (): Sent => 'stalled'
    const outcome = await withTimeout(bound, () => taken, stalled).catch((): Sent => 'gone')
    release()
    if (outcome !== 'taken') return outcome
  }
  return 'taken'
}
