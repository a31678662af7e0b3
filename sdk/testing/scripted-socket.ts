/** For tests: WebSockets with a scripted server side. */
import type { WebSocketLike } from '../src/http/stream.ts'

/** The server's side of one socket. */
export type ServerSide = {
  readonly url: string
  readonly protocols: readonly string[]
  /** The last request of the client, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape.
  request(): any
  /** Opens the socket and sends the frames. */
  open(...frames: readonly object[]): void
  send(...frames: readonly object[]): void
  close(code?: number): void
}

/** @param serve - The script of each socket, in order of opening. Further sockets are closed. */
export function scriptedSockets(serve: readonly ((side: ServerSide) => void)[]) {
  const opened: ServerSide[] = []
  class ScriptedSocket implements WebSocketLike {
    onopen: ((event: never) => void) | null = null
    onmessage: ((event: never) => void) | null = null
    onerror: ((event: never) => void) | null = null
    onclose: ((event: never) => void) | null = null
    sent = '{}'
    isClosed = false
    constructor(url: string, protocols: string[]) {
      const emit = (handler: ((event: never) => void) | null, event: object = {}) => {
        if (!this.isClosed) handler?.(event as never)
      }
      const side: ServerSide = {
        url,
        protocols,
        request: () => JSON.parse(this.sent),
        open: (...frames) => {
          emit(this.onopen)
          side.send(...frames)
        },
        send: (...frames) => {
          for (const frame of frames) emit(this.onmessage, { data: JSON.stringify(frame) })
        },
        close: (code = 1006) => emit(this.onclose, { code }),
      }
      const serveThis = serve[opened.length] ?? (() => side.close())
      opened.push(side)
      queueMicrotask(() => serveThis(side))
    }
    send(data: string) {
      this.sent = data
    }
    close() {
      this.isClosed = true
    }
  }
  return { WebSocket: ScriptedSocket, opened }
}
