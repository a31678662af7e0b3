/**
 * Loggers of requests, each of which is made when something is logged: hardly any request logs a line, and to
 * make pino's child for each costs more than to route it.
 */
import type { FastifyBaseLogger } from 'fastify'

type Child = Parameters<FastifyBaseLogger['child']>
type Line = Parameters<FastifyBaseLogger['info']>

/** For fastify, which takes its children. What a factory of its own would make it checks with each request. */
export function createRequestLoggers(logger: FastifyBaseLogger): FastifyBaseLogger {
  return new LazyLogger(logger, [{}])
}

class LazyLogger implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger
  readonly #child: Child
  #made: FastifyBaseLogger | null = null

  constructor(parent: FastifyBaseLogger, child: Child) {
    this.#parent = parent
    this.#child = child
  }

  get level(): string {
    return this.#parent.level
  }
  child(...child: Child): FastifyBaseLogger {
    return new LazyLogger(this.#own(), child)
  }
  trace(...line: Line): void {
    this.#own().trace(...line)
  }
  debug(...line: Line): void {
    this.#own().debug(...line)
  }
  info(...line: Line): void {
    this.#own().info(...line)
  }
  warn(...line: Line): void {
    this.#own().warn(...line)
  }
  error(...line: Line): void {
    this.#own().error(...line)
  }
  fatal(...line: Line): void {
    this.#own().fatal(...line)
  }
  silent(): void {}

  #own(): FastifyBaseLogger {
    this.#made ??= this.#parent.child(...this.#child)
    return this.#made
  }
}
