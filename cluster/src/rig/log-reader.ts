/** The log of a cluster, for its control plane. */

import { type Clock, systemRandom } from '@quorumscan/base'
import type { Ordering } from '@quorumscan/ledger'
import { createLogClient, createLogReader } from '@quorumscan/log'
import { logTokenOf } from '@quorumscan/operator'
import { logGenesisOf } from '@quorumscan/operator/ceremony'
import { readSecret } from '@quorumscan/runtime'
import { CONTROL_PLANE } from './cluster-shape.ts'
import type { Prepared } from './prepare.ts'

/** Follows it like anybody who has a token. Disposing ends what follows. */
export function openClusterLog(
  prepared: Prepared,
  clock: Clock,
): Pick<Ordering, 'follow'> & AsyncDisposable {
  const log = createLogClient({
    url: `http://127.0.0.1:${prepared.ports.synchronizer}`,
    token: readSecret(prepared.directory.secretFile(logTokenOf(CONTROL_PLANE))),
  })
  const genesis = logGenesisOf(prepared.genesis)
  const { follow } = createLogReader({ log, genesis, clock, random: systemRandom })
  return { follow, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() }
}
