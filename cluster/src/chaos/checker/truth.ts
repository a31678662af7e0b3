/**
 * What the log says, independent of every replica: an interpretation of its own in memory, and besides it
 * what can be counted in the log without one. Truth about a name is a function of the offset alone.
 */
import { fromHex } from '@quorumscan/base'
import { type Genesis, hashGenesis, quorumOf } from '@quorumscan/consensus'
import {
  type AppliedEntry,
  ansEntry,
  coin,
  decodeEntry,
  isOf,
  lockedCoin,
  payloadOf,
  subscriptionInitialPayment,
} from '@quorumscan/ledger'
import { MemoryLedger } from '@quorumscan/ledger/memory-ledger'
import { type Contract, formatTime } from '@quorumscan/model'
import type { Finding, LogLine, SeenEntry } from '../history.ts'

type Version = {
  readonly from: number
  to: number
  readonly expiresAt: number
  readonly entry: SeenEntry
}

export type Truth = {
  readonly headOffset: number
  /** The live entry at an offset, or null. */
  entryOfName(name: string, offset: number): SeenEntry | null
  /** The lowest live name of a party at an offset (D-12). */
  entryOfParty(party: string, offset: number): SeenEntry | null
  historyHash(offset: number): string | null
  updateId(offset: number): string | null
  /** Where a contract was created, and where it ended. */
  contract(id: string): { readonly createdAt: number; readonly archivedAt: number | null } | null
  /** Initial payments of a subscription request, by contract id. */
  paymentsFor(reference: string): readonly string[]
  /** What is wrong with the log itself. */
  readonly findings: readonly Finding[]
}

/** Coin comes from here, and goes there, and nowhere else. */
const MAKES_COIN = ['CoinRules_DevNet_Tap', 'CoinRules_Mint']
const BURNS_COIN = ['AnsRules_CollectInitialEntryPayment', 'AnsRules_CollectEntryRenewalPayment']
const FOREVER = Number.POSITIVE_INFINITY

export async function readTruth(log: readonly LogLine[], genesis: Genesis): Promise<Truth> {
  const genesisHash = await hashGenesis(genesis)
  const ledger = new MemoryLedger({ genesis, genesisHash })
  const versions = new Map<string, Version[]>()
  const contracts = new Map<string, { createdAt: number; archivedAt: number | null }>()
  const payments = new Map<string, string[]>()
  const recordTimes = [genesis.recordTime]
  const hashes = [genesisHash]
  const updateIds: (string | null)[] = [null]
  const findings: Finding[] = []
  const confirmers = new Map<string, Set<string>>()
  const operators = new Set(genesis.nodes.map((node) => node.operatorKey))
  const quorum = quorumOf(genesis.nodes.length)

  for (const [index, line] of log.entries()) {
    if (line.offset !== index + 1) {
      findings.push({ rule: 'log', sentence: `the log has no entry at offset ${index + 1}` })
      break
    }
    const bytes = fromHex(line.bytes)
    countConfirmations(bytes, { genesisHash, operators, confirmers })
    const applied = ledger.append(bytes, line.recordTime)
    recordTimes.push(line.recordTime)
    hashes.push(applied.historyHash)
    updateIds.push(applied.result.kind === 'accepted' ? applied.result.update.updateId : null)
    findings.push(...checkCoin(applied))
    for (const contract of applied.archived) {
      const known = contracts.get(contract.contractId)
      if (known !== undefined) known.archivedAt = line.offset
      endVersion(versions, contract, line.offset)
    }
    for (const contract of applied.created) {
      contracts.set(contract.contractId, { createdAt: line.offset, archivedAt: null })
      if (isOf(subscriptionInitialPayment, contract)) {
        const { reference } = payloadOf(subscriptionInitialPayment, contract)
        payments.set(reference, [...(payments.get(reference) ?? []), contract.contractId])
      }
    }
    findings.push(...checkQuorum(applied, { confirmers, quorum }))
    findings.push(...addVersions(versions, applied))
  }

  const liveAt = (version: Version | undefined, offset: number): SeenEntry | null =>
    version !== undefined &&
    version.from <= offset &&
    offset < version.to &&
    version.expiresAt > (recordTimes[offset] ?? FOREVER)
      ? version.entry
      : null
  const entryOfName = (name: string, offset: number) =>
    liveAt(
      versions
        .get(name)
        ?.findLast(
          (version) =>
            version.from <= offset &&
            offset < version.to &&
            version.expiresAt > (recordTimes[offset] ?? FOREVER),
        ),
      offset,
    )
  return {
    headOffset: hashes.length - 1,
    entryOfName,
    entryOfParty: (party, offset) => {
      const names = [...versions.keys()].filter((name) => entryOfName(name, offset)?.user === party)
      const lowest = names.sort((left, right) =>
        Buffer.compare(Buffer.from(left), Buffer.from(right)),
      )[0]
      return lowest === undefined ? null : entryOfName(lowest, offset)
    },
    historyHash: (offset) => hashes[offset] ?? null,
    updateId: (offset) => updateIds[offset] ?? null,
    contract: (id) => contracts.get(id) ?? null,
    paymentsFor: (reference) => payments.get(reference) ?? [],
    findings,
  }
}

function addVersions(versions: Map<string, Version[]>, applied: AppliedEntry): Finding[] {
  const findings: Finding[] = []
  for (const contract of applied.created) {
    if (!isOf(ansEntry, contract)) continue
    const { user, name, url, description, expiresAt } = payloadOf(ansEntry, contract)
    const known = versions.get(name) ?? []
    if (known.some((version) => version.to === FOREVER && version.expiresAt > applied.recordTime))
      findings.push({
        rule: 'names are unique',
        sentence: `${name} has two live entries at offset ${applied.offset}`,
      })
    versions.set(name, [
      ...known,
      {
        from: applied.offset,
        to: FOREVER,
        expiresAt,
        entry: {
          contract_id: contract.contractId,
          user,
          name,
          url,
          description,
          expires_at: formatTime(expiresAt),
        },
      },
    ])
  }
  return findings
}

function endVersion(versions: Map<string, Version[]>, contract: Contract, offset: number): void {
  if (!isOf(ansEntry, contract)) return
  const { name } = payloadOf(ansEntry, contract)
  for (const version of versions.get(name) ?? [])
    if (version.entry.contract_id === contract.contractId) version.to = offset
}

/** Counted from the signed bytes alone, so that a fault in the rules of interpretation is seen. */
function countConfirmations(
  bytes: Uint8Array,
  known: {
    readonly genesisHash: string
    readonly operators: ReadonlySet<string>
    readonly confirmers: Map<string, Set<string>>
  },
): void {
  const decoded = decodeEntry(bytes, known.genesisHash)
  if (decoded.kind !== 'submission' || !known.operators.has(decoded.submission.participant)) return
  for (const payment of confirmedPayments(decoded.submission.commands)) {
    const by = known.confirmers.get(payment) ?? new Set<string>()
    known.confirmers.set(payment, by.add(decoded.submission.participant))
  }
}

function confirmedPayments(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Reflect.get(value, 'tag') === 'ResolveInitialPayment') {
    const payment: unknown = Object(Reflect.get(value, 'value')).payment
    return typeof payment === 'string' ? [payment] : []
  }
  return Object.values(value).flatMap(confirmedPayments)
}

function checkQuorum(
  applied: AppliedEntry,
  known: { readonly confirmers: ReadonlyMap<string, ReadonlySet<string>>; readonly quorum: number },
): Finding[] {
  const hasEntry = applied.created.some((contract) => isOf(ansEntry, contract))
  if (!hasEntry) return []
  return applied.archived
    .filter((contract) => isOf(subscriptionInitialPayment, contract))
    .filter(({ contractId }) => (known.confirmers.get(contractId)?.size ?? 0) < known.quorum)
    .map(({ contractId }) => ({
      rule: 'a payment is resolved by a quorum',
      sentence: `the payment ${contractId} was collected at offset ${applied.offset} with ${
        known.confirmers.get(contractId)?.size ?? 0
      } confirmations, ${known.quorum} are needed`,
    }))
}

function checkCoin(applied: AppliedEntry): Finding[] {
  const { result } = applied
  if (result.kind !== 'accepted') return []
  const sum = (contracts: readonly Contract[]) =>
    contracts.reduce((total, contract) => total + amountOf(contract), 0n)
  const change = sum(applied.created) - sum(applied.archived)
  const choices = result.update.events.map((event) =>
    event.kind === 'exercised' ? event.choice : '',
  )
  const isAllowed =
    change === 0n ||
    choices.some((choice) => (change > 0n ? MAKES_COIN : BURNS_COIN).includes(choice))
  return isAllowed
    ? []
    : [
        {
          rule: 'coin is conserved',
          sentence: `coin ${change > 0n ? 'appeared' : 'disappeared'} at offset ${applied.offset}`,
        },
      ]
}

function amountOf(contract: Contract): bigint {
  if (isOf(coin, contract)) return payloadOf(coin, contract).amount.initialAmount
  if (isOf(lockedCoin, contract)) return payloadOf(lockedCoin, contract).coin.amount.initialAmount
  return 0n
}
