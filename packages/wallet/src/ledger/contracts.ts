/** Contracts as a user may see them, and as the wallet's answers show them. */
import { ScanError } from '@quorumscan/errors'
import type { Ledger } from '@quorumscan/ledger'
import type { Contract, ContractId, Micros, PartyId } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'

/** Contracts of one template and party that an answer or a choice of coins looks at. */
const CONTRACTS_PER_PARTY_MAX = 10_000

/** The ledger with what wallets read of it beyond the port: joins, and the history of a party. */
export type WalletLedger = Ledger &
  Pick<Replica, 'contractsByKeys' | 'pin' | 'lookups' | 'parties' | 'completions'>

/** What only stakeholders see, of one template. */
export type ContractKind =
  | 'AnsEntry'
  | 'AnsEntryContext'
  | 'Coin'
  | 'LockedCoin'
  | 'Subscription'
  | 'SubscriptionIdleState'
  | 'SubscriptionInitialPayment'
  | 'SubscriptionPayment'
  | 'SubscriptionRequest'
  | 'TransferInstruction'

/**
 * Active contracts that the party has a stake in, in order of creation.
 *
 * @throws {ScanError} LIMIT_EXCEEDED rather than leave some out.
 */
export async function contractsOf(
  ledger: Ledger,
  kind: ContractKind,
  party: PartyId,
): Promise<readonly Contract[]> {
  const contracts = await ledger.contractsByKey(`party:${kind}:${party}`, {
    limit: CONTRACTS_PER_PARTY_MAX + 1,
  })
  return wholeList(kind, contracts)
}

/**
 * As `contractsOf`, of several templates at one moment, whose record time it tells: a join over separate
 * reads would miss what moves from one template to another between them.
 *
 * @throws {ScanError} As `contractsOf`.
 */
export async function joinedContractsOf<Kind extends ContractKind>(
  ledger: Pick<WalletLedger, 'contractsByKeys'>,
  kinds: readonly Kind[],
  party: PartyId,
): Promise<{
  readonly recordTime: Micros
  readonly contracts: { readonly [K in Kind]: readonly Contract[] }
}> {
  const { recordTime, contracts } = await ledger.contractsByKeys(
    kinds.map((kind) => `party:${kind}:${party}`),
    { limit: CONTRACTS_PER_PARTY_MAX + 1 },
  )
  const lists = kinds.map((kind, index) => [kind, wholeList(kind, contracts[index] ?? [])])
  // Object.fromEntries loses the keys that the return type states.
  return { recordTime, contracts: Object.fromEntries(lists) as never }
}

function wholeList(kind: ContractKind, contracts: readonly Contract[]): readonly Contract[] {
  if (contracts.length > CONTRACTS_PER_PARTY_MAX)
    throw new ScanError(
      'LIMIT_EXCEEDED',
      `The party has more than ${CONTRACTS_PER_PARTY_MAX} contracts of one kind.`,
      { details: { limit: 'contracts', kind, max: CONTRACTS_PER_PARTY_MAX } },
    )
  return contracts.toSorted((a, b) => a.offset - b.offset || a.nodeId - b.nodeId)
}

export function isOfKind(contract: Contract, kind: ContractKind): boolean {
  return contract.templateId.endsWith(`:${kind}`)
}

/** The active contract, or null if there is none of this kind that the party has a stake in. */
export async function findContract(
  ledger: Ledger,
  kind: ContractKind,
  input: { readonly party: PartyId; readonly contractId: ContractId },
): Promise<Contract | null> {
  const [contract] = await ledger.contracts([input.contractId])
  if (contract === undefined || contract === null) return null
  const isVisible =
    contract.signatories.includes(input.party) || contract.observers.includes(input.party)
  return isVisible && isOfKind(contract, kind) ? contract : null
}

/** An archived contract, one of somebody else and one that never was are the same to the caller. */
export function contractNotFound(contractId: ContractId): ScanError {
  return new ScanError(
    'CONTRACT_NOT_FOUND',
    // Upstream's words, which clients match on (docs/upstream.md §N1.8).
    `contract id not found: ContractId(id = ${contractId})`,
    { details: { contract_id: contractId } },
  )
}
