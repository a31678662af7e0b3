/** A user that registers names one after the other, and waits until lookups find each. */
import { createSystemClock, median } from '@quorumscan/base'
import { again, childArgument } from '../../support/child.ts'
import { createRegistrar, untilFound } from '../proxy/names.ts'

export type RegisterArgument = {
  readonly validator: string
  readonly token: string
  /** Prefix of the names. */
  readonly prefix: string
  readonly count: number
}

export type RegisterResult = { readonly p50Ms: number }

/** Interval of lookups for a name. */
const POLL_MS = 5
const clock = createSystemClock()

await again(childArgument<RegisterArgument>(), async ({ validator, token, prefix, count }) => {
  const access = { urls: { validator }, token: async () => token }
  const register = await createRegistrar(access, 'registrant')
  const times: number[] = []
  for (let each = 0; each < count; each++) {
    const name = `${prefix}-${each}.unverified.ns`
    const startedMs = clock.monotonicMs()
    await register(name)
    await untilFound(access, name, POLL_MS)
    times.push(clock.monotonicMs() - startedMs)
  }
  return { p50Ms: median(times) } satisfies RegisterResult
})
