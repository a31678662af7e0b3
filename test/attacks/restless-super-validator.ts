/** A super-validator changes its address continuously, with as many submissions as it may make. */

import { createSystemClock, toHex } from '@quorumscan/base'
import { setScanUrlCommand, svPartyOf } from '@quorumscan/ledger'
import { send } from '@quorumscan/testkit'
import { encodeAddressStatement } from '@quorumscan/verifier'
import {
  createRegistrar,
  createSigner,
  ownKey,
  ownSecret,
  ruleIds,
  submit,
} from '../support/network.ts'
import type { Attack } from './attack.ts'

const NODE = 'sv-1'
const SLOWER_MAX = 1.5
/** With fewer rounds, one slow registration would move the median. */
const ROUNDS = 25
const REFUSED_WAIT_MS = 100
/** Minimum record time between two changes. */
const CHANGE_SECONDS_MIN = 10
const POLL_MS = 100
/** Concurrent requests. */
const WORKERS = 4

export const restlessSuperValidator: Attack = {
  name: 'restless-super-validator',
  needsOwnCluster: true,
  claim:
    'One super-validator can publish new addresses of its node in a loop, with its own keys and token. ' +
    'Registrations take at most one and a half times as long as before, and the ledger accepts one change in ten seconds.',
  async run({ cluster }) {
    const clock = createSystemClock()
    const registrar = await createRegistrar(cluster)
    await registrar.register()
    const usualMs = await registrar.median(ROUNDS)

    const { sign, genesis, genesisHash } = await createSigner(cluster)
    const [operator, scan, token] = await Promise.all([
      ownKey(cluster, `${NODE}.operator`),
      ownKey(cluster, `${NODE}.scan`),
      ownSecret(cluster, `secrets/log-token-${NODE}`),
    ])
    const node = genesis.nodes.find(({ name }) => name === NODE)
    if (node === undefined) throw new Error(`the cluster has no ${NODE}`)
    const sv = svPartyOf(node)
    const { dsoRules } = await ruleIds(cluster)
    const first = await addressOf(cluster.urls.nodes[NODE] ?? '')
    let { sequence } = first
    const stopping = new AbortController()
    const tally = { admitted: 0, refused: 0 }
    const attacker = async () => {
      while (!stopping.signal.aborted) {
        // The URL stays correct, so that the cluster is not changed.
        const address = { genesisHash, name: NODE, url: first.publicUrl, sequence: ++sequence }
        const signature = toHex(scan.sign(encodeAddressStatement(address)))
        const { url } = address
        const command = setScanUrlCommand({
          dsoRules: dsoRules.contract_id,
          sv,
          url,
          sequence: address.sequence,
          signature,
        })
        const status = await submit(
          cluster,
          sign(operator, { actAs: [sv], commands: [command] }),
          token,
        )
        if (status === 200) tally.admitted++
        else {
          tally.refused++
          await clock.delay(REFUSED_WAIT_MS, stopping.signal).catch(() => {}) // Aborted.
        }
      }
    }
    const startedMs = clock.monotonicMs()
    const sequences = new Set<number>()
    const poll = async () => {
      while (!stopping.signal.aborted) {
        sequences.add((await addressOf(cluster.urls.nodes['sv-2'] ?? '')).sequence)
        await clock.delay(POLL_MS, stopping.signal).catch(() => {}) // Aborted.
      }
    }
    const polling = poll()
    const attacking = Promise.all(Array.from({ length: WORKERS }, attacker))
    const attackedMs = await registrar.median(ROUNDS)
    stopping.abort()
    await Promise.all([attacking, polling])
    const seconds = (clock.monotonicMs() - startedMs) / 1000
    // The first sequence existed before, and one change may be allowed immediately.
    const changes = sequences.size - 1
    const changesMax = 1 + Math.ceil(seconds / CHANGE_SECONDS_MIN)
    const slower = attackedMs / usualMs
    return {
      holds: slower <= SLOWER_MAX && tally.admitted > 0 && changes <= changesMax,
      figures: {
        'registration before, ms': Math.round(usualMs),
        'registration under attack, ms': Math.round(attackedMs),
        [`slower (at most ${SLOWER_MAX})`]: slower.toFixed(2),
        'submissions admitted': tally.admitted,
        'submissions refused': tally.refused,
        seconds: seconds.toFixed(1),
        [`changes seen (at most ${changesMax})`]: changes,
      },
    }
  },
}

type Address = { readonly publicUrl: string; readonly svName: string; readonly sequence: number }

async function addressOf(nodeUrl: string): Promise<Address> {
  const { body } = await send(`${nodeUrl}/v0/scans`)
  const addresses: readonly Address[] = body.scans[0]?.scans ?? []
  const found = addresses.find(({ svName }) => svName === NODE)
  if (found === undefined) throw new Error(`${NODE} has published no address`)
  return found
}
