/** A named check of an operator's part. `run` makes them before it starts anything, `status` while it runs. */
import { messageOf } from '@quorumscan/runtime'

export type Check = {
  readonly name: string
  /** `failed`: it prevents work, and needs a change on this machine. `warning`: it may heal without one. */
  readonly state: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** What the operator can do; null if nothing, or if the detail contains it. */
  readonly advice: string | null
}

export function ok(name: string, detail: string): Check {
  return { name, state: 'ok', detail, advice: null }
}

export function warning(name: string, detail: string, advice: string | null): Check {
  return { name, state: 'warning', detail, advice }
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
  return `${name}: ${[detail, ...(advice === null ? [] : [advice])].join('. ')}`
}
