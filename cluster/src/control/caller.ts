/** Who calls the control plane, and what the log keeps of what they did. */
import type { IncomingHttpHeaders } from 'node:http'
import { printable } from '@quorumscan/cli'

/** In which a program says who it is. Whoever has the token may say anything here: it is for a person who reads. */
export const CALLER_HEADER = 'x-quorumscan-caller'
const CALLER_LENGTH_MAX = 100
/** Of what was asked for: a scenario of a chaos run is longer. */
const INPUT_LENGTH_MAX = 1000

export function callerOf(headers: IncomingHttpHeaders): string {
  const said = headers[CALLER_HEADER]
  if (typeof said === 'string' && said.length <= CALLER_LENGTH_MAX) return printable(said)
  return headers.origin === undefined ? 'unknown' : 'console'
}

/** One call that changed something, or was meant to: such as `nodes.kill`, and `done`, or why not. */
export type Act = { readonly caller: string; readonly call: string; readonly outcome: string }

/** As JSON, and not more of it than a line holds. */
export function shownInput(input: unknown): string {
  return (JSON.stringify(input) ?? '').slice(0, INPUT_LENGTH_MAX)
}
