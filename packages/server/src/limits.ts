/** Bounds of the HTTP server. Each is a default; an app may set another. */
export const defaultLimits = {
  /** URL and headers together. Node's own default; the longest lookup has under 1 KiB. */
  headerBytesMax: 16 * 1024,
  /** A body without a limit of its own (D-7). */
  bodyBytesMax: 1024 * 1024,
  /** Headers must have arrived within this, and then the body, so that slow senders hold no connection. */
  requestMsMax: 10_000,
  /** The same for a body that no interface reads; above the time that each interface gives a body. */
  bodyMsMax: 25_000,
  /** A handler must have answered; above every wait inside handlers (D-38: 10 s at most, submissions 30 s). */
  handlerMsMax: 60_000,
  /** A connection without any traffic; above `handlerMsMax`, so that it never cuts a handler short. */
  idleConnectionMsMax: 75_000,
  /** A client must have read its answer: enough for a phone to read the largest. */
  answerMsMax: 60_000,
  /** Bytes of answers and WebSockets that one client has not read, unless it is a single one: some of the largest answers. */
  unreadBytesPerClientMax: 64 * 1024 * 1024,
  /** The same for all clients. */
  unreadBytesMax: 256 * 1024 * 1024,
  /** The time between two requests of one connection; below the minute that proxies and clients usually assume. */
  keepAliveMsMax: 30_000,
  /** The time for requests in progress to finish at close; then connections are closed. */
  drainMsMax: 10_000,
  /** Connections that wait to be accepted; beyond it, clients try again after 1 s, 3 s, 7 s. */
  backlogMax: 4096,
  /** Sockets in all; well below the usual 16 Ki and more of file descriptors. */
  connectionsMax: 8192,
  /** Sockets of one client address, which a whole company may share. */
  connectionsPerClientMax: 512,
  /** Sockets of the /48 of an IPv6 address, in which one customer has any number of client addresses. */
  connectionsPerNetworkMax: 1024,
}

export type HttpLimits = Readonly<typeof defaultLimits>
