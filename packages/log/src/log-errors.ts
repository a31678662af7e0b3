/** Errors of a log. They stay inside the process: the ordering client wraps them in ScanErrors. */
import { EnvError } from '@quorumscan/base'
import type { SignedGroup } from './group.ts'

/**
 * The synchronizer signed two groups for one offset. The error holds both: with the genesis any
 * process can verify them (D-43).
 */
export class LogForkError extends Error {
  override readonly name = 'LogForkError'
  readonly evidence: readonly [SignedGroup, SignedGroup]

  constructor(evidence: readonly [SignedGroup, SignedGroup]) {
    const [one, other] = evidence
    super(
      `the synchronizer signed two groups for one offset: ${one.firstOffset}..${one.lastOffset} ` +
        `(${one.hash}) and ${other.firstOffset}..${other.lastOffset} (${other.hash})`,
    )
    this.evidence = evidence
  }
}

/** Another writer appended to the log, or the log lost its end. This writer must not continue. */
export class LogFencedError extends Error {
  override readonly name = 'LogFencedError'
}

/** The settings of the Redis do not make acknowledged writes durable (Rule 3), or the key is the wrong one. */
export class LogConfigError extends EnvError {
  override readonly name = 'LogConfigError'
}

/** The Redis cannot be reached, or did not answer. The command may or may not have been executed. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError'
}
