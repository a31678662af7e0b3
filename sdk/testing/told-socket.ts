/** For tests: WebSockets whose other side is told what to do. */
import type { WebSocketLike } from '../src/http/socket.ts'

/** The server's side of one socket. */
export type ToldSide = {
  readonly url: string
  readonly protocols: readonly string[]
  /** What the client sent last, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape.
  request(): any
  /** With what it sends at once. */
  open(...frames: readonly object[]): void
  send(...frames: readonly object[]): void
  close(code?: number): void
}

/** `serve` is what the server does with each socket, in order of opening; a further one is closed. */
export function toldSockets(serve: readonly ((side: ToldSide) => void)[]) {
  const opened: ToldSide[] = []
  class ToldSocket implements WebSocketLike {
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
      const side: ToldSide = {
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
  return { WebSocket: ToldSocket, opened }
}
