/** What the interfaces of one server do differently over WebSocket: admission of clients, and the form of errors. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Refusal } from '../errors.ts'

/** JSON texts to be sent, a frame each, in batches. */
export type Frames = AsyncIterable<readonly string[]>

/** Called once, with the client's first frame. What it gives ends or fails when the signal aborts. */
export type OpenStream = (frame: Buffer, signal: AbortSignal) => Promise<Frames>

export type SocketDialect = {
  /** The second mount point, in addition to the root (D-3). */
  readonly prefix: string
  readonly sockets: readonly {
    readonly path: string
    /** Authenticates and charges the client, before there is a socket. */
    admit(request: IncomingMessage, requestId: string): OpenStream | Promise<OpenStream>
  }[]
  /** Whether it answers for the path, even where it has no socket there. */
  owns(path: string): boolean
  /** The caller's own id of the request, which errors and the log name; null: one is drawn. */
  givenIdOf(headers: IncomingHttpHeaders): string | null
  notFound(request: IncomingMessage, requestId: string): Refusal
  /** Thrown where no more sockets may be opened. */
  overloaded(): Error
  /** Any error, in place of a socket. */
  refusal(thrown: unknown, requestId: string): Refusal
  /** The last frame that a client receives. */
  lastFrame(thrown: unknown, requestId: string): string
  /** Of a frame of the client's. */
  readonly frameBytesMax: number
  /** The sub-protocol spoken; null for none. */
  readonly protocol: string | null
  /** Of sockets: in all, of one client and of one network. */
  readonly limits: {
    readonly max: number
    readonly perClientMax: number
    readonly perNetworkMax: number
  }
}
