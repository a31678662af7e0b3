/** The state at offset 0: it follows from the genesis document alone. */

import { assert } from '@quorumscan/base'
import { type Amount, type Contract, type PartyId, parseAmount, partyIdOf } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import { type GenesisNode, memberSetOf } from '@quorumscan/verifier'
import { updateIdOf } from './contract-id.ts'
import { OPEN_ROUNDS } from './limits.ts'
import { Refusal } from './refusal.ts'
import { rulesOf, unknownVersion } from './rules.ts'
import type { StateDelta } from './state.ts'
import { ansRules } from './templates/ans-rules.ts'
import { coinRules } from './templates/coin-rules.ts'
import { dsoRules } from './templates/dso-rules.ts'
import { openMiningRound } from './templates/open-mining-round.ts'
import { LedgerTransaction } from './transaction.ts'

/** The party of a super-validator: its participant is its operator key (D-41). */
export function svPartyOf(node: GenesisNode): PartyId {
  const party = partyIdOf(node.name, node.operatorKey)
  assert(party !== undefined, 'a node name is a party hint')
  return party
}

/**
 * DsoRules, AnsRules, CoinRules, rounds 0 to 2, and the parties of the super-validators.
 *
 * @throws {ScanError} SOFTWARE_OUTDATED if the network began with a version that this software does not know.
 * @throws {RangeError} If no ledger can begin with these rules.
 */
export function genesisDelta(genesis: Genesis, genesisHash: string): StateDelta {
  const { dso, names, coin, recordTime, protocolVersion } = genesis
  const rules = rulesOf(protocolVersion)
  if (rules === undefined) throw unknownVersion(protocolVersion)
  const svs = memberSetOf(genesis).members.map((node) => ({
    name: node.name,
    party: svPartyOf(node),
  }))
  const tx = new LedgerTransaction({
    rules,
    view: emptyView,
    genesis,
    genesisHash,
    offset: 0,
    recordTime,
    updateId: updateIdOf({ genesisHash, offset: 0, recordTime }),
    authority: [dso, ...svs.map(({ party }) => party)],
  })
  tx.create(dsoRules, { dso, protocolVersion, nextVersion: null, svs })
  demandOf('names', () =>
    tx.create(ansRules, {
      dso,
      config: {
        renewalDuration: names.renewalDurationMicros,
        entryLifetime: names.entryLifetimeMicros,
        entryFee: decimalOf(names.entryFeeUsd),
        descriptionPrefix: names.descriptionPrefix,
      },
    }),
  )
  demandOf('coin', () =>
    tx.create(coinRules, {
      dso,
      isDevNet: genesis.devnet,
      tickDuration: coin.tickMicros,
      coinPrice: decimalOf(coin.priceUsd),
      rewardPerRound: decimalOf(coin.rewardPerRound),
    }),
  )
  for (let number = 0; number < OPEN_ROUNDS; number++)
    tx.create(openMiningRound, {
      dso,
      round: { number },
      coinPrice: decimalOf(coin.priceUsd),
      opensAt: recordTime,
      targetClosesAt: recordTime + (number + 1) * coin.tickMicros,
      tickDuration: coin.tickMicros,
    })
  const created: readonly Contract[] = tx.finish().created
  return {
    created,
    archived: [],
    changes: [],
    seen: null,
    allocated: svs.map(({ party }) => party),
  }
}

/** Checks that a first contract satisfies the rules of its template. @throws {RangeError} If it does not. */
function demandOf(member: string, create: () => unknown): void {
  try {
    create()
  } catch (refused) {
    if (!(refused instanceof Refusal)) throw refused
    throw new RangeError(`the genesis document is not valid at ${member}: ${refused.message}`)
  }
}

const emptyView = {
  contract: () => null,
  index: () => [],
  change: () => null,
  seen: () => null,
  isPartyAllocated: () => false,
}

function decimalOf(text: string): Amount {
  const amount = parseAmount(text)
  assert(amount !== undefined, 'parseGenesis lets well-formed decimals through only')
  return amount
}
