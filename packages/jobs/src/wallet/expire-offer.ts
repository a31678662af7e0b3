import { expireTransferCommand, payloadOf, transferInstruction } from '@quorumscan/ledger'
import type { Contract, PartyId } from '@quorumscan/model'
import type { JobDefinition, WalletDeps } from '../job.ts'
import { activeContract, selectActive } from '../reads.ts'
import { submitAsParty } from '../submit.ts'

/** No super-validator can do this: the coin of an offer belongs to its sender. */
export const expireOffer: JobDefinition<WalletDeps> = {
  name: 'expire-offer',
  doc: 'Returns the coin of an offer that nobody took; due at its executeBefore.',
  share: 'one',
  select: (offers, deps) =>
    selectActive(deps.ledger, offers, (contract) => actorOf(contract, deps) !== undefined),
  async process(offer, deps) {
    const contract = await activeContract(deps.ledger, offer)
    const actor = contract === null ? undefined : actorOf(contract, deps)
    if (actor === undefined) return
    const command = expireTransferCommand({ instruction: offer, actor })
    await submitAsParty(deps, { job: this.name, contractId: offer, party: actor, command })
  },
}

/** Sender and receiver may both end it. */
function actorOf(contract: Contract, deps: WalletDeps): PartyId | undefined {
  const { sender, receiver } = payloadOf(transferInstruction, contract).transfer
  return [sender, receiver].find(deps.isHosted)
}
