/** How long after its last confirmation a name is found. */
import { createSystemClock } from '@quorumscan/base'
import { parseInstant } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'
import { createRegistrar } from './names.ts'

/** An entry is made in the transaction of the last confirmation, and lives so long (D-18). */
const LIFETIME_MICROS = 90 * 86_400 * 1_000_000
const clock = createSystemClock()

/** Counts names of one process: no two measurements share one. */
let named = 0

/**
 * Milliseconds, one a name.
 *
 * @param find - Looks for a name until it is there.
 */
export async function measureVisible(
  cluster: RunningCluster,
  count: number,
  find: (name: string) => Promise<{ readonly expires_at: string }>,
): Promise<number[]> {
  const register = await createRegistrar(cluster, 'patient')
  const delays: number[] = []
  for (let each = 0; each < count; each++) {
    const name = `visible-${named++}.unverified.ns`
    await register(name)
    const { expires_at: expiresAt } = await find(name)
    const confirmedAt = (parseInstant(expiresAt) ?? Number.NaN) - LIFETIME_MICROS
    delays.push((clock.nowMicros() - confirmedAt) / 1_000)
  }
  return delays
}
