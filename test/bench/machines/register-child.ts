/** One user who registers names, one after the other, each until lookups find it; and again. */
import { createSystemClock } from '@quorumscan/base'
import { again, childArgument } from '../child.ts'
import { createRegistrar, untilFound } from '../proxy/names.ts'
import { median } from '../report.ts'

export type RegisterArgument = {
  readonly validator: string
  readonly token: string
  /** What the names begin with. */
  readonly prefix: string
  readonly count: number
}

export type RegisterResult = { readonly p50Ms: number }

/** Between looks for a name. */
const POLL_MS = 5
const clock = createSystemClock()

await again(childArgument<RegisterArgument>(), async ({ validator, token, prefix, count }) => {
  const here = { urls: { validator }, token: async () => token }
  const register = await createRegistrar(here, 'registrant')
  const times: number[] = []
  for (let each = 0; each < count; each++) {
    const name = `${prefix}-${each}.unverified.ns`
    const startedMs = clock.monotonicMs()
    await register(name)
    await untilFound(here, name, POLL_MS)
    times.push(clock.monotonicMs() - startedMs)
  }
  return { p50Ms: median(times) } satisfies RegisterResult
})
