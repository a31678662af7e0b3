/**
 * The updates of the ledger over one WebSocket (D-28). What browsers do not tell of a socket that never
 * opened, such as the status, is asked for by a page afterwards: here it is only "refused".
 */
import type { Clock } from './clock.ts'
import { QuorumscanError } from './errors.ts'
import { isJsGetUpdatesResponse } from './generated/ledger-checks.ts'
import { ledgerErrorOf, parseJson } from './http-failures.ts'
import { requestOf, type UpdateElement, type UpdateRange } from './update-pages.ts'

/** What the SDK uses of a WebSocket; that of browsers, Node 22, undici and `ws` are such. */
export interface WebSocketLike {
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  send(data: string): void
  close(code?: number): void
}
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike

/** Several at once, as they came; the last of a range that ends says so. */
export type UpdateBatch = { readonly updates: readonly UpdateElement[]; readonly isLast: boolean }

const OPEN_MS = 10_000
/** The server says how far it is every 15 s: a connection that is silent for so long died without a word. */
const SILENT_MS = 45_000
/** A consumer that is slower than the ledger: read again from where he is, not kept in memory. */
const WAITING_MAX = 1000
const DONE = 1000 // RFC 6455 §7.4.1.

/** No socket came about. It says nothing about the request: a page does. */
export class SocketRefused extends Error {
  override readonly name = 'SocketRefused'
}

/**
 * Opens a socket and yields what comes, until the range ends.
 *
 * @throws {SocketRefused} If it does not open. @throws {QuorumscanError} What the server says, or
 *   NETWORK_ERROR when the connection is lost. @throws The signal's reason.
 */
export async function* readSocket(
  parts: {
    readonly WebSocket: WebSocketConstructor
    /** Of the ledger interface, http or https. */
    readonly url: string
    readonly token: string | null
    readonly clock: Clock
  },
  range: UpdateRange,
): AsyncGenerator<UpdateBatch> {
  const { clock } = parts
  const { signal } = range
  signal?.throwIfAborted()
  const inbox: UpdateElement[] = []
  let state: 'opening' | 'open' | 'done' | 'ended' = 'opening'
  let wasOpen = false
  let failure: QuorumscanError | null = null
  let wake = () => {}

  const protocols = parts.token === null ? [] : [`jwt.token.${parts.token}`]
  const socket = new parts.WebSocket(`${parts.url.replace(/^http/, 'ws')}/v2/updates`, [
    'daml.ws.auth',
    ...protocols,
  ])
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
    socket.send(JSON.stringify(requestOf(range)))
    wake()
  }
  socket.onmessage = ({ data }: { readonly data: unknown }) => {
    if (state !== 'open') return
    const element = parseJson(String(data))
    if (!isJsGetUpdatesResponse(element)) end(ledgerErrorOf(String(data)) ?? unreadable())
    else if (inbox.push(element) >= WAITING_MAX) end(lost('what came was not taken in time'))
    else wake()
  }
  socket.onerror = () => {} // `close` follows.
  socket.onclose = ({ code }: { readonly code: number }) => {
    if (state === 'open' && code === DONE && range.end !== null) {
      state = 'done'
      wake()
    } else end(lost('the connection was closed'))
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
      const updates = inbox.splice(0)
      const isLast = (state as string) === 'done'
      if (updates.length > 0 || isLast) yield { updates, isLast }
      if (isLast) return
      if (inbox.length > 0 || (state as string) === 'done') continue
      if (failure !== null) throw failure
      if (!(await news(SILENT_MS))) throw lost('the connection has been silent')
    }
  } finally {
    state = 'ended'
    socket.close()
  }
}

function lost(why: string): QuorumscanError {
  return new QuorumscanError(`The stream of updates broke off: ${why}.`, {
    code: 'NETWORK_ERROR',
    definite: true,
    retryable: true,
  })
}

function unreadable(): QuorumscanError {
  return new QuorumscanError(
    'What came over the stream of updates is not what this version of the SDK understands.',
    { code: 'INVALID_RESPONSE', definite: true, retryable: false },
  )
}
