/** The argument of `open-loop-child.ts`, and its result. */
export type OpenLoopArgument = {
  readonly url: string
  readonly path: string
  /** Local addresses, which connections use in turn. */
  readonly addresses: readonly string[]
  readonly connections: number
  /** Requests per second, regardless of the answers. With null each connection sends the next one after an answer. */
  readonly perSecond: number | null
  readonly ms: number
  /** Maximum time of an answer that counts as good. */
  readonly patienceMs: number
  /** Pid of the server. */
  readonly pid: number
}

export type OpenLoop = {
  /** Answers of 200 within `patienceMs`. */
  readonly goodPerSecond: number
  /** Good answers per second of the server's processor time, because clients share the processors. */
  readonly goodPerCpuSecond: number
  /** Answers of 429 and 503 with retry-after. */
  readonly refusedPerSecond: number
  /** Requests that were actually due. */
  readonly duePerSecond: number
  /** Requests that were due but not sent, because all connections were busy. */
  readonly unsentPerSecond: number
  readonly lateCount: number
  /** Other answers, and connections that ended without an answer. */
  readonly badCount: number
  /** Head of one bad answer, or an empty text. */
  readonly bad: string
  /** Median number of answers to others while a newcomer waited for one. */
  readonly beforeNewcomer: number
  readonly p99Ms: number
}
