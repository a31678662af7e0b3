/** Measures the time from the last confirmation of a name until lookups find it. */
import { createSystemClock } from '@quorumscan/base'
import { parseInstant } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'
import { createRegistrar } from './names.ts'

/** Lifetime of an entry, which the transaction of the last confirmation creates (D-18). */
const LIFETIME_MICROS = 90 * 86_400 * 1_000_000
const clock = createSystemClock()

/** Counts the names of this process, so that each measurement uses new names. */
let nameCount = 0

/**
 * Returns one time per name, ms.
 *
 * @param find - Waits until the name is found.
 */
export async function measureVisible(
  cluster: RunningCluster,
  count: number,
  find: (name: string) => Promise<{ readonly expires_at: string }>,
): Promise<number[]> {
  const register = await createRegistrar(cluster, 'patient')
  const delays: number[] = []
  for (let each = 0; each < count; each++) {
    const name = `visible-${nameCount++}.unverified.ns`
    await register(name)
    const { expires_at: expiresAt } = await find(name)
    const confirmedAt = (parseInstant(expiresAt) ?? Number.NaN) - LIFETIME_MICROS
    delays.push((clock.nowMicros() - confirmedAt) / 1_000)
  }
  return delays
}
