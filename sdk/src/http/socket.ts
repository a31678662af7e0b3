/**
 * One WebSocket, read frame by frame. What browsers do not tell of a socket that never opened, such as the
 * status, is asked for by a page afterwards: here it is only "refused".
 */

import { failure, passing, type QuorumscanError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { ledgerErrorOf, parseJson } from './http-failures.ts'

/** What the SDK uses of a WebSocket; that of browsers, Node 22, undici and `ws` are such. */
export interface WebSocketLike {
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  /** Sends a text frame. */
  send(data: string): void
  /** Begins to close; `onclose` follows. */
  close(code?: number): void
}
/** Opens a connection to the URL, with the sub-protocols offered (RFC 6455). */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike

/** Several at once, as they came; `isDone`: the server said that all of it came. */
export type FrameBatch<Frame> = { readonly frames: readonly Frame[]; readonly isDone: boolean }

const OPEN_MS = 10_000
/** Servers say something every 15 s: a connection that is silent for so long died without a word. */
const SILENT_MS = 45_000
/** As of an answer over HTTP: the largest page of the largest rows stays below. */
const FRAME_CHARACTERS_MAX = 32 * 1024 * 1024
/** For a consumer that is slower than the server: it reads again from where it is, and memory stays bounded. */
const WAITING_MAX = 1000
const DONE = 1000 // RFC 6455 §7.4.1.

/** No socket came about. It says nothing about the request: a page does. */
export class SocketRefused extends Error {
  override readonly name = 'SocketRefused'
}

export type FramesOptions<Frame> = {
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
  /** What is none is an error of the server's, or nothing that is understood. */
  readonly isFrame: (body: unknown) => body is Frame
  /** Whether the server may say that all came; else it has no end. */
  readonly isFinite: boolean
}

/**
 * Opens a socket, sends the request and yields what comes, until the server says that it is done.
 *
 * @throws {SocketRefused} If it does not open. @throws {QuorumscanError} What the server says, or
 *   NETWORK_ERROR when the connection is lost. @throws The signal's reason.
 */
export async function* readFrames<Frame>(
  options: FramesOptions<Frame>,
): AsyncGenerator<FrameBatch<Frame>> {
  const { clock, signal, what } = options
  signal?.throwIfAborted()
  const inbox: Frame[] = []
  let state: 'opening' | 'open' | 'done' | 'ended' = 'opening'
  let wasOpen = false
  let failure: QuorumscanError | null = null
  let wake = () => {}

  const socket = open(options)
  const end = (error: QuorumscanError | null): void => {
    if (state === 'ended' || state === 'done') return
    failure = error
    state = 'ended'
    socket.close()
    wake()
  }
  socket.onopen = () => {
    if (state !== 'opening') return
    state = 'open'
    wasOpen = true
    socket.send(JSON.stringify(options.request))
    wake()
  }
  socket.onmessage = ({ data }: { readonly data: unknown }) => {
    if (state !== 'open') return
    const text = String(data)
    const frame = text.length > FRAME_CHARACTERS_MAX ? undefined : parseJson(text)
    if (!options.isFrame(frame)) end(ledgerErrorOf(text) ?? unreadable(what))
    else if (inbox.push(frame) >= WAITING_MAX) end(lost(what, 'what came was not taken in time'))
    else wake()
  }
  socket.onerror = () => {} // `close` follows.
  socket.onclose = ({ code }: { readonly code: number }) => {
    if (state === 'open' && code === DONE && options.isFinite) {
      state = 'done'
      wake()
    } else end(lost(what, 'the connection was closed'))
  }
  /** Resolves when something happened; false: nothing did for so long. */
  const news = async (ms: number): Promise<boolean> => {
    const came = new AbortController()
    const isNews = new Promise<true>((resolve) => {
      wake = () => resolve(true)
    })
    const bound = signal === undefined ? came.signal : AbortSignal.any([signal, came.signal])
    try {
      return await Promise.race([isNews, clock.delay(ms, bound).then(() => false)])
    } finally {
      came.abort()
    }
  }

  try {
    if (!wasOpen) await news(OPEN_MS)
    if (!wasOpen) throw new SocketRefused('no WebSocket could be opened')
    for (;;) {
      const frames = inbox.splice(0)
      const isDone = (state as string) === 'done'
      if (frames.length > 0 || isDone) yield { frames, isDone }
      if (isDone) return
      if (inbox.length > 0 || (state as string) === 'done') continue
      if (failure !== null) throw failure
      if (!(await news(SILENT_MS))) throw lost(what, 'the connection has been silent')
    }
  } finally {
    state = 'ended'
    socket.close()
  }
}

/** Browsers throw where a policy of the page forbids the address. */
function open<Frame>({ WebSocket, url, protocols }: FramesOptions<Frame>): WebSocketLike {
  try {
    return new WebSocket(url.replace(/^http/, 'ws'), [...protocols])
  } catch (cause) {
    throw new SocketRefused('no WebSocket could be made', { cause })
  }
}

function lost(what: string, why: string): QuorumscanError {
  return passing('NETWORK_ERROR', `The stream of ${what} broke off: ${why}.`)
}

function unreadable(what: string): QuorumscanError {
  return failure(
    'INVALID_RESPONSE',
    `What came over the stream of ${what} is not what this version of the SDK understands.`,
  )
}
