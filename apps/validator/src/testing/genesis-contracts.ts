/** For tests: what a request discloses of the genesis. */
import { hashGenesis } from '@quorumscan/consensus'
import { disclose, genesisDelta } from '@quorumscan/ledger'
import type { World } from './world.ts'

export type DisclosedRules = readonly { contractId: string; createdEventBlob: string }[]

/** Contracts of the genesis: their ids, by entity, and all of them as a request discloses them. */
export async function genesisContracts(world: Pick<World, 'network'>): Promise<{
  readonly rules: Readonly<Record<string, string>>
  readonly disclosedContracts: DisclosedRules
}> {
  const { genesis } = world.network
  const { created } = genesisDelta(genesis, await hashGenesis(genesis))
  const rules = Object.fromEntries(
    created.map(({ templateId, contractId }) => [templateId.split(':')[2], contractId]),
  )
  const disclosedContracts = created.map(disclose).map(({ contractId, blob }) => ({
    contractId,
    createdEventBlob: blob,
  }))
  return { rules, disclosedContracts }
}
