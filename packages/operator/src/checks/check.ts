/** A named check of an operator's part. `run` makes them before it starts anything, `status` while it runs. */
import { messageOf } from '@quorumscan/runtime'

export type Check = {
  readonly name: string
  /** `failed`: it prevents work, and needs a change on this machine. `warning`: it may heal without one. */
  readonly state: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** What the operator can do; null if nothing, or if the detail of a failure contains it. */
  readonly advice: string | null
  /** A failure that no other start can end: the exit status is that of a wrong configuration. */
  readonly isMisconfigured?: true
}

export function ok(name: string, detail: string): Check {
  return { name, state: 'ok', detail, advice: null }
}

export function warning(name: string, detail: string, advice: string): Check {
  return { name, state: 'warning', detail, advice }
}

/** A warning in sentences, of which the last is the advice. @param otherwise - The advice if there is one sentence. */
export function warningIn(name: string, text: string, otherwise: string): Check {
  const end = text.lastIndexOf('. ')
  return end === -1
    ? warning(name, text, otherwise)
    : warning(name, text.slice(0, end), text.slice(end + '. '.length))
}

export function failed(name: string, detail: string, advice: string | null): Check {
  return { name, state: 'failed', detail, advice }
}

/** The check by an assertion, whose error contains the advice. @param work - Returns the detail. */
export async function asserted(name: string, work: () => Promise<string>): Promise<Check> {
  return work().then(
    (detail) => ok(name, detail),
    (error: unknown) => failed(name, messageOf(error), null),
  )
}

/** All that a check found, in one line. */
export function describeCheck({ name, detail, advice }: Check): string {
  return `${name}: ${advice === null ? detail : `${detail.replace(/\.$/, '')}. ${advice}`}`
}
