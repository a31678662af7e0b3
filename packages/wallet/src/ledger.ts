/** Reads and commands of the wallet: contracts that a user may see, rules, results of choices. */
import { assert } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { isOf, type Ledger, openMiningRound, payloadOf, type Template } from '@quorumscan/ledger'
import type {
  Command,
  Contract,
  ContractId,
  DamlValue,
  DisclosedContract,
  PartyId,
  Update,
  UserId,
} from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import type { CheckedSubmitter, CommandInput } from '@quorumscan/submit'

/** Contracts of one template and party that an answer or a choice of coins looks at. */
const CONTRACTS_PER_PARTY_MAX = 10_000

/** The ledger with what wallets read of it beyond the port: joins, and the history of a party. */
export type WalletLedger = Ledger &
  Pick<Replica, 'contractsByKeys' | 'listContracts' | 'pin' | 'lookups' | 'parties' | 'completions'>

/** What finding contracts by their index keys needs of the ledger. */
export type KeyedLedger = Pick<Ledger, 'contractsByKey'>

/** The calling user, with the party whose wallet it is. */
export type WalletUser = { readonly userId: UserId; readonly party: PartyId }
/** A call of a user. The signal aborts when the client closes its connection. */
export type UserCall = { readonly user: WalletUser; readonly signal: AbortSignal }
/** The same, about one contract. */
export type ContractCall = UserCall & { readonly contractId: ContractId }

/** The dependencies of wallet operations. */
export type OperationDeps = { readonly ledger: Ledger; readonly submitter: CheckedSubmitter }

/**
 * Active contracts of a template that the party has a stake in, in order of creation.
 *
 * @throws {ScanError} LIMIT_EXCEEDED rather than leave some out.
 */
export async function contractsOf(
  ledger: KeyedLedger,
  { entity }: Template<unknown>,
  party: PartyId,
) {
  const limit = CONTRACTS_PER_PARTY_MAX + 1
  return wholeList(entity, await ledger.contractsByKey(`party:${entity}:${party}`, { limit }))
}

function wholeList(kind: string, contracts: readonly Contract[]): readonly Contract[] {
  if (contracts.length > CONTRACTS_PER_PARTY_MAX)
    throw new ScanError(
      'LIMIT_EXCEEDED',
      `The party has more than ${CONTRACTS_PER_PARTY_MAX} contracts of one kind.`,
      { details: { limit: 'contracts', kind, max: CONTRACTS_PER_PARTY_MAX } },
    )
  return inOrder(contracts)
}

/** Sorts contracts by their creation. */
export function inOrder(contracts: readonly Contract[]): readonly Contract[] {
  return contracts.toSorted((a, b) => a.offset - b.offset || a.nodeId - b.nodeId)
}

/** The active contract, or null if none of this template that the user's party has a stake in has the id. */
export async function findContract(
  ledger: Ledger,
  template: Template<unknown>,
  { user: { party }, contractId }: Omit<ContractCall, 'signal'>,
): Promise<Contract | null> {
  const [contract] = await ledger.contracts([contractId])
  if (contract == null) return null
  const isVisible = contract.signatories.includes(party) || contract.observers.includes(party)
  return isVisible && isOf(template, contract) ? contract : null
}

/** The active contract. @throws {ScanError} CONTRACT_NOT_FOUND. */
export async function ownContract(
  ledger: Ledger,
  template: Template<unknown>,
  input: Omit<ContractCall, 'signal'>,
): Promise<Contract> {
  const contract = await findContract(ledger, template, input)
  if (contract === null) throw contractNotFound(input.contractId)
  return contract
}

/** The caller cannot tell an archived contract, one of another party and one that never existed apart. */
export function contractNotFound(contractId: ContractId): ScanError {
  return new ScanError(
    'CONTRACT_NOT_FOUND',
    // Upstream's words, which clients match on (docs/upstream.md §N1.8).
    `contract id not found: ContractId(id = ${contractId})`,
    { details: { contract_id: contractId } },
  )
}

/** The operator's contract that commands name. */
export async function singleton(ledger: KeyedLedger, entity: 'AnsRules' | 'CoinRules') {
  const [contract] = await ledger.contractsByKey(`singleton:${entity}`, { limit: 1 })
  assert(contract !== undefined, `the genesis creates ${entity}, and it always exists`)
  return contract
}

/** The open round with the highest number, whose price is in force (D-22). `price` is USD for one coin. */
export async function newestRound(ledger: KeyedLedger) {
  const rounds = (await ledger.contractsByKey('rounds')).map((contract) =>
    payloadOf(openMiningRound, contract),
  )
  const [newest] = rounds.toSorted((a, b) => b.round.number - a.round.number)
  assert(newest !== undefined, 'rounds are open from the genesis on')
  return { number: newest.round.number, price: newest.coinPrice }
}

/** One command of a user, and its options. */
export type UserCommand = {
  readonly command: Command
  /** Commands with the same id take effect once. */
  readonly commandId?: string
  /** Reported by the completion. */
  readonly submissionId?: string
  /** Contracts that the command uses and the party cannot see. */
  readonly disclosed?: readonly DisclosedContract[]
}

export function submissionOf({ userId, party }: WalletUser, work: UserCommand): CommandInput {
  const { command, ...options } = work
  return { userId, actAs: [party], commands: [command], ...options }
}

/** Submits the command. @throws {ScanError} As any submission. */
export function submitAs(
  { submitter }: Pick<OperationDeps, 'submitter'>,
  { user, signal }: UserCall,
  work: UserCommand,
): Promise<Update> {
  return submitter.submit(submissionOf(user, work), signal)
}

/** The result of the first command, which must be an exercise. */
export function resultOf(update: Update): Readonly<Record<string, DamlValue | undefined>> {
  const [event] = update.events
  assert(event?.kind === 'exercised', 'the update begins with the exercise that was commanded')
  const { result } = event
  assert(isRecord(result), 'choices that users exercise return a record')
  return result
}

/** A contract id in the result of the first command. */
export function resultContractId(update: Update, field: string): ContractId {
  const id = resultOf(update)[field]
  assert(typeof id === 'string', `the result has a contract id ${field}`)
  return id
}

function isRecord(value: DamlValue): value is { readonly [field: string]: DamlValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
