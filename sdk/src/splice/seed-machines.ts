/** Names the machines of seeds where host names can be resolved, which is in Node.js. Loaded there only. */
import { platformResolver, resolveMachines } from '@quorumscan/reader'
import { linkedController } from '@quorumscan/verifier'
import type { Clock } from '../platform/clock.ts'

/** A resolver that takes longer is of no use to a read of ten seconds. */
const RESOLVE_MS_MAX = 2000

/** The name of the machine of each URL: equal for names that share an address. */
export async function seedMachines(
  urls: readonly string[],
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const late = linkedController(signal)
  const end = () => late.abort()
  clock.delay(RESOLVE_MS_MAX, late.signal).then(end, end)
  const machines = await resolveMachines(urls, { resolve: platformResolver(), signal: late.signal })
  end()
  return machines
}
