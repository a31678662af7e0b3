/** One WebSocket, read frame by frame. `follow.ts` continues after its end. */
import { backoffMs, linkedController } from '@quorumscan/verifier'
import { failure, type QuorumscanError, transient } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { parseJson } from '../platform/parse-json.ts'
import type { Random } from '../platform/random.ts'
import { LIST_BYTES_MAX } from './answer-limits.ts'
import type { FrameBatch } from './follow.ts'
import { ledgerErrorOf } from './stated-errors.ts'

/** The members of a WebSocket that the SDK uses. Those of browsers, Node 22, undici and `ws` have them. */
export interface WebSocketLike {
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  /** Sends a text frame. */
  send(data: string): void
  /** Starts to close; `onclose` follows. */
  close(code?: number): void
}
/** Opens a connection to the URL and requests one of the sub-protocols (RFC 6455). */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike

const OPEN_MS = 10_000
/** Servers send a frame every 15 s, so a connection that is silent for this long is dead. */
const SILENT_MS = 45_000
/** The platform holds a frame in memory before it is checked: no API of a WebSocket bounds it earlier. */
const FRAME_CHARACTERS_MAX = LIST_BYTES_MAX
/** Bounds the memory for a consumer that is slower than the server. It continues from its position on a new socket. */
const WAITING_MAX = 1000
const DONE = 1000 // RFC 6455 §7.4.1.
/** If no WebSocket opens, such as behind a proxy, pages are read for this long. */
const SOCKET_RETRY_MS = 60_000

type FramesOptions<Frame> = {
  readonly WebSocket: WebSocketConstructor
  /** http or https. */
  readonly url: string
  readonly protocols: readonly string[]
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  /** For messages: `updates`. */
  readonly what: string
  /** The first frame. */
  readonly request: object
  /** Any other body is an error of the server, or not understood. */
  readonly isFrame: (body: unknown) => body is Frame
  /** Whether the server may end the stream; otherwise an end is a failure. */
  readonly isFinite: boolean
}

/**
 * Opens a socket, sends the request and yields the frames until the server has sent all of them. Returns false if it does
 * not open. Browsers hide the reason, such as the HTTP status; the request for a page shows it.
 *
 * @throws {QuorumscanError} An error that the server sends, or NETWORK_ERROR when the connection is lost.
 * @throws The signal's reason.
 */
async function* readFrames<Frame>(options: FramesOptions<Frame>) {
  const { clock, signal, what } = options
  signal?.throwIfAborted()
  const inbox: Frame[] = []
  let isOpen = false
  let ended: 'done' | QuorumscanError | null = null
  let wake = () => {}
  const ending = () => ended

  const socket = open(options)
  if (socket === null) return false
  const end = (how: 'done' | QuorumscanError): void => {
    if (ended !== null) return
    ended = how
    socket.close()
    wake()
  }
  socket.onopen = () => {
    if (ended !== null) return
    isOpen = true
    socket.send(JSON.stringify(options.request))
    wake()
  }
  socket.onmessage = ({ data }: { readonly data: unknown }) => {
    if (!isOpen || ended !== null) return
    const text = String(data)
    const frame = text.length > FRAME_CHARACTERS_MAX ? undefined : parseJson(text)
    if (!options.isFrame(frame)) end(ledgerErrorOf(text) ?? unreadable(what))
    else if (inbox.push(frame) >= WAITING_MAX) end(lost(what, 'frames were not consumed in time'))
    else wake()
  }
  socket.onerror = () => {} // `close` follows.
  socket.onclose = ({ code }: { readonly code: number }) => {
    const isDone = isOpen && code === DONE && options.isFinite
    end(isDone ? 'done' : lost(what, 'the connection was closed'))
  }
  /** Resolves with true after an event, and with false after `ms` without one. */
  const event = async (ms: number): Promise<boolean> => {
    const over = linkedController(signal)
    const woken = new Promise<true>((resolve) => {
      wake = () => resolve(true)
    })
    try {
      return await Promise.race([woken, clock.delay(ms, over.signal).then(() => false)])
    } finally {
      over.abort()
    }
  }

  try {
    if (!isOpen) await event(OPEN_MS)
    if (!isOpen) return false
    for (;;) {
      const isDone = ending() === 'done'
      const frames = inbox.splice(0)
      if (frames.length > 0 || isDone) yield { frames, isDone }
      if (isDone) return true
      const how = ending()
      if (inbox.length > 0 || how === 'done') continue // They came while the consumer was busy.
      if (how !== null) throw how
      if (!(await event(SILENT_MS))) throw lost(what, 'the connection has been silent')
    }
  } finally {
    end('done')
  }
}

/** Browsers throw if a policy of the page forbids the address. */
function open<Frame>({ WebSocket, url, protocols }: FramesOptions<Frame>): WebSocketLike | null {
  try {
    return new WebSocket(url.replace(/^http/, 'ws'), [...protocols])
  } catch {
    return null
  }
}

function lost(what: string, why: string): QuorumscanError {
  return transient('NETWORK_ERROR', `The stream of ${what} was interrupted: ${why}.`)
}

function unreadable(what: string): QuorumscanError {
  const message = `This version of the SDK does not understand a frame of the stream of ${what}.`
  return failure('INVALID_RESPONSE', message)
}

/**
 * Returns a function that reads over sockets as `readFrames`. It returns false if no socket opens, and for a minute
 * after that without trying. A socket that did not open with one token may open with another.
 *
 * @param WebSocket - null: the platform has none.
 */
export function createSocketReads(WebSocket: WebSocketConstructor | null, clock: Clock) {
  let refusal: { readonly token: string | null; readonly atMs: number } | null = null
  const isRefused = (token: string | null): boolean =>
    refusal?.token === token && clock.monotonicMs() - refusal.atMs < SOCKET_RETRY_MS
  return async function* read<Frame>(
    token: string | null,
    options: Omit<FramesOptions<Frame>, 'WebSocket' | 'clock'>,
  ): AsyncGenerator<FrameBatch<Frame>, boolean> {
    if (WebSocket === null || isRefused(token)) return false
    const isOpened = yield* readFrames({ ...options, WebSocket, clock })
    if (!isOpened) refusal = { token, atMs: clock.monotonicMs() }
    return isOpened
  }
}

/** The pause in ms after consecutive failures. */
export function retryPauseMs(failures: number, random: Random): number {
  return backoffMs(failures, { minMs: 500, maxMs: 10_000, random })
}
