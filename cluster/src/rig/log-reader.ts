/** The log of a cluster, for its control plane. */
import { type Clock, systemRandom } from '@quorumscan/base'
import type { Ordering } from '@quorumscan/ledger'
import { createLogClient, createLogReader } from '@quorumscan/log'
import { logTokenOf } from '@quorumscan/operator'
import { logGenesisOf } from '@quorumscan/operator/ceremony'
import { readSecret } from '@quorumscan/runtime'
import { CONTROL_PLANE } from './cluster-shape.ts'
import type { Prepared } from './prepare.ts'

/** Follows it as every process with a token does. Disposing ends all that follow. */
export function openClusterLog(
  prepared: Prepared,
  clock: Clock,
): Pick<Ordering, 'follow'> & AsyncDisposable {
  const log = createLogClient({
    url: prepared.synchronizerUrl,
    token: readSecret(prepared.directory.secretFile(logTokenOf(CONTROL_PLANE))),
  })
  const genesis = logGenesisOf(prepared.genesis)
  const { follow } = createLogReader({ log, genesis, clock, random: systemRandom })
  return { follow, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() }
}
