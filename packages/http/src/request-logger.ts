/**
 * The logger of one request, which is made when something is logged: hardly any request logs a line, and to
 * make pino's child for each costs more than to route it.
 */
import type { FastifyBaseLogger } from 'fastify'

type Bindings = Parameters<FastifyBaseLogger['child']>[0]
type Line = Parameters<FastifyBaseLogger['info']>

/** For fastify. */
export function createRequestLogger(
  parent: FastifyBaseLogger,
  bindings: Bindings,
): FastifyBaseLogger {
  return new RequestLogger(parent, bindings)
}

class RequestLogger implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger
  readonly #bindings: Bindings
  #child: FastifyBaseLogger | null = null

  constructor(parent: FastifyBaseLogger, bindings: Bindings) {
    this.#parent = parent
    this.#bindings = bindings
  }

  get level(): string {
    return this.#parent.level
  }
  child(bindings: Bindings): FastifyBaseLogger {
    return this.#own().child(bindings)
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
    this.#child ??= this.#parent.child(this.#bindings)
    return this.#child
  }
}
