/** What the interfaces of one server say differently over WebSocket: who is let in, and how errors are put. */
import type { IncomingMessage } from 'node:http'

/** What is sent for an error in place of a socket. */
export type Refusal = {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** JSON texts to be sent, a frame each, in batches. */
export type Frames = AsyncIterable<readonly string[]>

/** One client that was let in. */
export type SocketSession = {
  readonly requestId: string
  /** Called once, with the client's first frame. What it gives ends or fails when the signal aborts. */
  open(frame: Buffer, signal: AbortSignal): Promise<Frames>
}

export type SocketDialect = {
  /** Whether it answers for the path, even where it has no socket there. */
  owns(path: string): boolean
  /** By which errors and the log name the request: the caller's own id, else a drawn one. */
  requestIdOf(request: IncomingMessage): string
  /** Who the client is, before there is a socket; null where no socket has this path. */
  find(
    path: string,
  ): ((request: IncomingMessage, requestId: string) => Promise<SocketSession>) | null
  notFound(request: IncomingMessage): Refusal
  /** Thrown where no more sockets may be opened. */
  overloaded(): Error
  /** Whatever was thrown, in place of a socket. */
  refusal(thrown: unknown, requestId: string): Refusal
  /** As the last thing that a client is told. */
  lastFrame(thrown: unknown, requestId: string): string
  /** Of a frame of the client's. */
  readonly frameBytesMax: number
  /** The sub-protocol spoken; null for none. */
  readonly protocol: string | null
  /** Sockets, as `Places` counts them. */
  readonly socketsMax: number
  readonly socketsPerClientMax: number
  readonly socketsPerNetworkMax: number
}
