/**
 * What stays: parties that addresses without a token register, each with its own key, and coins into which a user of a
 * validator splits one. Rates bound neither, as each entry is cheap.
 */
import { createKeyPair, createSystemClock, randomHex, systemRandom } from '@quorumscan/base'
import { allocatePartyCommand } from '@quorumscan/ledger'
import { send } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { Agent, request } from 'undici'
import { createUser, unwrap } from '../support/client.ts'
import { createSigner, ruleIds } from '../support/network.ts'
import type { Attack } from './attack.ts'

/** Enough for the users and their coins, and little enough that the attack ends soon. */
const STATE_BYTES_PER_DAY = 262_144
const ADDRESSES = ['127.0.8.1', '127.0.8.2', '127.0.8.3', '127.0.8.4', '127.0.8.5']
/** Of each address: more than all together may add. */
const REGISTRATIONS = 1_000
const WORKERS = 4
/** The least that the ledger counts for an entry that hosts a party, and for one that makes a hundred coins. */
const PARTY_BYTES = 320
const SPLIT_BYTES = 100 * 256
/** The last entry of each address may exceed what it has, which it then owes. */
const BYTES_MAX = STATE_BYTES_PER_DAY + ADDRESSES.length * PARTY_BYTES
/** Answers in a row that say that an address has used up its bytes, not its rate of a second. */
const REFUSALS = 40
const SPLITS = 20
const clock = createSystemClock()

export const permanentBytes: Attack = {
  name: 'permanent-bytes',
  needsOwnCluster: true,
  genesis: { stateBytesPerDay: STATE_BYTES_PER_DAY },
  claim:
    `${ADDRESSES.length} addresses without a token register a party with a new key in each entry, and a user of a validator ` +
    `splits coins into a hundred, until they are refused. The addresses add at most ${STATE_BYTES_PER_DAY} bytes together, ` +
    'the user at most a half of as many, and another user of that validator taps, and registers a name.',
  async run({ cluster }) {
    const [greedy, modest] = [
      await createUser(cluster, 'greedy', '1000.0'),
      await createUser(cluster, 'modest', '1000.0'),
    ]
    const [parties, splits] = await Promise.all([
      registerParties(cluster),
      splitCoins(cluster, greedy),
    ])
    const name = 'modest.unverified.ns'
    const tap = await modest.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
    await modest.accept(await modest.request(name))
    const partyBytes = parties.admitted * PARTY_BYTES
    const splitBytes = splits.accepted * SPLIT_BYTES
    return {
      holds:
        partyBytes <= BYTES_MAX &&
        parties.admitted > 0 &&
        parties.exhausted === ADDRESSES.length &&
        splits.accepted > 0 &&
        splits.refused &&
        splitBytes <= STATE_BYTES_PER_DAY / 2 &&
        tap.error === undefined,
      figures: {
        'parties registered': parties.admitted,
        'bytes of these parties, at least': `${partyBytes} of ${BYTES_MAX}`,
        'addresses that were refused at last': parties.exhausted,
        'coins split into a hundred': splits.accepted,
        'bytes of these coins, at least': `${splitBytes} of ${STATE_BYTES_PER_DAY / 2}`,
        'a split was refused at last': String(splits.refused),
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

async function splitCoins(
  cluster: RunningCluster,
  { token, party, client }: Awaited<ReturnType<typeof createUser>>,
) {
  const { coinRules } = await ruleIds(cluster)
  const tally = { accepted: 0, refused: false }
  for (let count = 0; count < SPLITS && !tally.refused; count++) {
    const { coins } = unwrap(await client.GET('/v0/wallet/coins'))
    const [largest] = coins
      .map(({ contract, effective_amount }) => ({
        id: contract.contract.contract_id,
        amount: Number(effective_amount),
      }))
      .sort((a, b) => b.amount - a.amount)
    const outputs = Array.from({ length: 100 }, () => ({
      receiver: party,
      amount: '0.0000000001',
      lock: null,
    }))
    const { status } = await send(`${cluster.urls.validator}/v2/commands/submit-and-wait`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: {
        commands: [
          {
            ExerciseCommand: {
              templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
              contractId: coinRules.contract_id,
              choice: 'CoinRules_Transfer',
              choiceArgument: { sender: party, inputs: [largest?.id], outputs },
            },
          },
        ],
        commandId: randomHex(systemRandom, 8),
        actAs: [party],
        disclosedContracts: [{ createdEventBlob: coinRules.created_event_blob }],
      },
    })
    if (status === 200) tally.accepted++
    else if (status === 429) await clock.delay(1_000)
    else tally.refused = true
  }
  return tally
}
