/** What stays: parties that addresses without a token register, each with its own key. Each entry is cheap, so no rate bounds them. */
import { createKeyPair, createSystemClock, randomHex, systemRandom } from '@quorumscan/base'
import { allocatePartyCommand } from '@quorumscan/ledger'
import type { RunningCluster } from 'quorumscan/testing'
import { Agent, request } from 'undici'
import { createUser } from '../support/client.ts'
import { createSigner } from '../support/network.ts'
import type { Attack } from './attack.ts'

/** Enough for the users and their coins, and little enough that the attack ends soon. */
const STATE_BYTES_PER_DAY = 262_144
const ADDRESSES = ['127.0.8.1', '127.0.8.2', '127.0.8.3', '127.0.8.4', '127.0.8.5']
/** Of each address: more than all together may add. */
const REGISTRATIONS = 1_000
const WORKERS = 4
/** What the ledger counts for an entry that hosts a party. */
const PARTY_BYTES = 320
/** The last entry of each address may exceed what it has, which it then owes. */
const BYTES_MAX = STATE_BYTES_PER_DAY + ADDRESSES.length * PARTY_BYTES
/** Answers in a row that say that an address has used up its bytes, not its rate of a second. */
const REFUSALS = 40
const clock = createSystemClock()

export const permanentBytes: Attack = {
  name: 'permanent-bytes',
  needsOwnCluster: true,
  genesis: { stateBytesPerDay: STATE_BYTES_PER_DAY },
  claim:
    `${ADDRESSES.length} addresses without a token register a party with a new key in each entry, until they are refused. ` +
    `They add at most ${STATE_BYTES_PER_DAY} bytes together, and then a user of a validator taps, and pays for a name.`,
  async run({ cluster }) {
    const { admitted, exhausted } = await registerParties(cluster)
    const modest = await createUser(cluster, 'modest', '1000.0')
    await modest.pay('modest.unverified.ns')
    const bytes = admitted * PARTY_BYTES
    return {
      holds: admitted > 0 && bytes <= BYTES_MAX && exhausted === ADDRESSES.length,
      figures: {
        'parties registered': admitted,
        'bytes of them': `${bytes} of ${BYTES_MAX}`,
        'addresses that were refused at last': exhausted,
      },
    }
  },
}

async function registerParties(cluster: RunningCluster) {
  const { sign } = await createSigner(cluster)
  const tally = { admitted: 0, exhausted: 0 }
  const attack = async (localAddress: string): Promise<void> => {
    const agent = new Agent({ connections: WORKERS, localAddress })
    let refusals = 0
    for (let count = 0; count < REGISTRATIONS && refusals < REFUSALS; count++) {
      const hint = randomHex(systemRandom, 8)
      const bytes = sign(createKeyPair(), { actAs: [], commands: [allocatePartyCommand({ hint })] })
      const { statusCode, body } = await request(`${cluster.urls.synchronizer}/v0/submit`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body: bytes,
        dispatcher: agent,
      })
      await body.dump()
      if (statusCode === 200) {
        tally.admitted++
        refusals = 0
      } else {
        refusals++
        await clock.delay(100)
      }
    }
    if (refusals === REFUSALS) tally.exhausted++
    await agent.close()
  }
  await Promise.all(ADDRESSES.map(attack))
  return tally
}
