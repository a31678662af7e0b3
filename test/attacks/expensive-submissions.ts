/** Entries with the maximum cost for each replica, signed by free keys. */
import { createKeyPair, createSystemClock, type KeyPair } from '@quorumscan/base'
import { allocatePartyCommand, transferCommand } from '@quorumscan/ledger'
import { type Command, partyIdOf } from '@quorumscan/model'
import { untilTrue } from '@quorumscan/testkit'
import { createRegistrar, createSigner, ruleIds, submit, watchLookups } from '../support/network.ts'
import type { Attack } from './attack.ts'

const KEYS = 50
const SLOWER_MAX = 3
/** Pause of a caller after a 429. Without it the caller would reach the rate limit of requests. */
const REFUSED_WAIT_MS = 1_000

const idOf = (index: number) => `00${String(index).padStart(64, '0')}`

/** For each kind of entry, the commands of a party. */
const KINDS: readonly ((party: string, index: number, coinRules: string) => readonly Command[])[] =
  [
    // JSON of maximum depth and width. The ledger parses, walks and encodes it before it refuses it.
    (_party, _index, coinRules) => [oddTransfer(coinRules, { x: Array(4_400).fill(nested(25)) })],
    (_party, _index, coinRules) => [oddTransfer(coinRules, { x: Array(75_000).fill([]) })],
    // The maximum number of contracts of an entry, none of which exists.
    (party, index, coinRules) =>
      [0, 1].map((half) =>
        transferCommand({
          coinRules,
          sender: party,
          inputs: Array.from({ length: 100 - half }, (_, at) =>
            idOf(1000 * index + 100 * half + at + 1),
          ),
          outputs: [],
        }),
      ),
  ]

function oddTransfer(coinRules: string, argument: object): Command {
  return {
    kind: 'exercise',
    template: '#quorumscan-coin:Coin.Rules:CoinRules',
    contractId: coinRules,
    choice: 'CoinRules_Transfer',
    argument: argument as never,
  }
}

function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)]
}

export const expensiveSubmissions: Attack = {
  name: 'expensive-submissions',
  needsOwnCluster: true,
  claim:
    'Any client can make fifty keys and submit the most expensive entries from one address, which the ' +
    'validator and the super-validators use as well. All lookups stay verified, and a registration by ' +
    'another user takes at most three times as long as before.',
  async run({ cluster }) {
    const clock = createSystemClock()
    const rounds = 15
    const registrar = await createRegistrar(cluster)
    await registrar.register()
    const usualMs = await registrar.median(rounds)

    const { sign } = await createSigner(cluster)
    const { coinRules } = await ruleIds(cluster)
    const keys = Array.from({ length: KEYS }, createKeyPair)
    const partyOf = (key: KeyPair) => partyIdOf('mallory', key.publicKey) ?? ''
    const entries = keys.flatMap((key, index) => {
      const commands =
        KINDS[index % KINDS.length]?.(partyOf(key), index, coinRules.contract_id) ?? []
      const hint = 'mallory'
      return [
        sign(key, { actAs: [], commands: [allocatePartyCommand({ hint })] }),
        sign(key, { actAs: [partyOf(key)], commands }),
      ]
    })
    const stopping = new AbortController()
    const tally = { admitted: 0, refused: 0, bytes: 0 }
    const attacker = async (first: number) => {
      for (let at = first; !stopping.signal.aborted && at < entries.length; ) {
        const bytes = entries[at] as Uint8Array
        const status = await submit(cluster, bytes)
        if (status === 200) {
          tally.admitted++
          tally.bytes += bytes.byteLength
          at += WORKERS
        } else {
          tally.refused++
          await clock.delay(REFUSED_WAIT_MS, stopping.signal).catch(() => {}) // Aborted.
        }
      }
    }
    const stopLookups = watchLookups(cluster, registrar.name())
    const attacking = Promise.all(Array.from({ length: WORKERS }, (_, index) => attacker(index)))
    // The attack starts when an entry is admitted, because another attack may have used up the anonymous budget.
    await untilTrue('an entry to be admitted', () => tally.admitted > 0)
    const attackedMs = await registrar.median(rounds)
    stopping.abort()
    await attacking
    const { lookups, unverified } = await stopLookups()
    const slower = attackedMs / usualMs
    return {
      // Some entries must be refused: otherwise only their number would limit the cost.
      holds:
        slower <= SLOWER_MAX &&
        unverified === 0 &&
        lookups > 0 &&
        tally.admitted > 0 &&
        tally.refused > 0,
      figures: {
        'registration before, ms': Math.round(usualMs),
        'registration under attack, ms': Math.round(attackedMs),
        [`slower (at most ${SLOWER_MAX})`]: slower.toFixed(2),
        'lookups under attack': lookups,
        'of them not verified': unverified,
        'entries admitted': tally.admitted,
        'kB admitted': Math.round(tally.bytes / 1000),
        'entries refused': tally.refused,
      },
    }
  },
}

/** Concurrent requests. */
const WORKERS = 10
