/** How long after its last confirmation a name is found, in a cluster that does nothing else. */
import { createSystemClock } from '@quorumscan/base'
import { parseInstant } from '@quorumscan/consensus'
import type { RunningCluster } from 'quorumscan'
import { createRegistrar, untilFound } from './names.ts'

/** An entry is made in the transaction of the last confirmation, and lives so long (D-18). */
const LIFETIME_MICROS = 90 * 86_400 * 1_000_000
const POLL_MS = 2
const clock = createSystemClock()

/** Milliseconds, one a name. */
export async function measureVisible(cluster: RunningCluster, count: number): Promise<number[]> {
  const register = await createRegistrar(cluster, 'patient')
  const delays: number[] = []
  for (let index = 0; index < count; index++) {
    const name = `visible-${index}.unverified.ns`
    await register(name)
    const { expires_at: expiresAt } = await untilFound(cluster, name, POLL_MS)
    const confirmedAt = (parseInstant(expiresAt) ?? Number.NaN) - LIFETIME_MICROS
    delays.push((clock.nowMicros() - confirmedAt) / 1_000)
  }
  return delays
}
