/** Bounds of the HTTP server. Each is a default; an app may set another. */

export type HttpLimits = {
  /** URL and headers together. Node's own default; the longest lookup has under 1 KiB. */
  readonly headerBytesMax: number
  /** A body without a limit of its own (D-7). */
  readonly bodyBytesMax: number
  /** Headers must have arrived within this, and then the body, so that slow senders hold no connection. */
  readonly requestMsMax: number
  /** The same for a body that no interface reads, or gives a time of its own; above each of these. */
  readonly bodyMsMax: number
  /** A handler must have answered; above every wait inside handlers (D-38: 10 s at most, submissions 30 s). */
  readonly handlerMsMax: number
  /** A connection without any traffic; above `handlerMsMax`, so that it never cuts a handler short. */
  readonly idleConnectionMsMax: number
  /** A client must have taken its answer: within it even a phone reads the largest. */
  readonly answerMsMax: number
  /** Between two requests of one connection; below the minute that proxies and clients usually assume. */
  readonly keepAliveMsMax: number
  /** At close: what is under way may finish within this time, then connections are cut. */
  readonly drainMsMax: number
  /** Connections that wait to be accepted; who finds no place there tries again after 1 s, 3 s, 7 s. */
  readonly backlogMax: number
  /** Sockets in all; well below the usual 16 Ki and more of file descriptors. */
  readonly connectionsMax: number
  /** Sockets of one client address: a small share, behind which there may be a whole company. */
  readonly connectionsPerClientMax: number
  /** Of the /48 of an IPv6 address, in which somebody may have any number of client addresses. */
  readonly connectionsPerNetworkMax: number
}

export const defaultLimits: HttpLimits = {
  headerBytesMax: 16 * 1024,
  bodyBytesMax: 1024 * 1024,
  requestMsMax: 10_000,
  bodyMsMax: 25_000,
  handlerMsMax: 60_000,
  idleConnectionMsMax: 75_000,
  answerMsMax: 60_000,
  keepAliveMsMax: 30_000,
  drainMsMax: 10_000,
  backlogMax: 4096,
  connectionsMax: 8192,
  connectionsPerClientMax: 512,
  connectionsPerNetworkMax: 1024,
}
