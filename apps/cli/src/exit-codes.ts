/** The exit status of commands. All of it is decided here. */

import { NoReplyError, UsageError } from '@quorumscan/runtime'
import { CommanderError } from 'commander'

export const EXIT = {
  /** Done. Of a check: yes. */
  done: 0,
  /** It could not be done. Of a check: no. */
  failed: 1,
  /** The command line is invalid, or names what does not exist: nothing was done or checked. */
  usage: 2,
  /** Too few answers to decide. */
  inconclusive: 3,
  /** The node or process did not answer. Of `check`: a node gave no signed state, or equivocates. */
  silent: 4,
  /** Interrupted by Ctrl-C: 128 and the number of the signal, as in shells. */
  interrupted: 130,
  /** The reader of the output has ended: 128 and the number of SIGPIPE. */
  unread: 141,
} as const

/** The exit status for an error that a command threw. */
export function exitCodeOf(error: unknown): number {
  // commander also throws after it has printed a help on request.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  if (error instanceof UsageError) return EXIT.usage
  return error instanceof NoReplyError ? EXIT.silent : EXIT.failed
}
