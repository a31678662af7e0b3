/** The argument of `open-loop-child.ts`, and its result. */
export type OpenLoopArgument = {
  readonly url: string
  readonly path: string
  /** Of this machine: connections come from them in turn. */
  readonly addresses: readonly string[]
  readonly connections: number
  /** So many requests are due a second, whatever comes back; null for the next as soon as the last was answered. */
  readonly perSecond: number | null
  readonly ms: number
  /** A later answer does not count. */
  readonly patienceMs: number
  /** The process that is asked. */
  readonly pid: number
}

export type OpenLoop = {
  /** Answers of 200 within the patience of a caller. */
  readonly goodPerSecond: number
  /** Of them, by second of processor time of the server, because clients use processors as well. */
  readonly goodPerCpuSecond: number
  /** 429 and 503 that say when to come again. */
  readonly refusedPerSecond: number
  /** As it turned out. */
  readonly duePerSecond: number
  /** Due, and not sent: no connection would take one more. */
  readonly unsentPerSecond: number
  readonly lateCount: number
  /** Answers that are neither, and connections that ended without an answer. */
  readonly badCount: number
  /** One of them, or an empty text. */
  readonly bad: string
  /** Median number of answers to others while a newcomer waited for one. */
  readonly beforeNewcomer: number
  readonly p99Ms: number
}
