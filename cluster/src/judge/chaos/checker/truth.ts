/**
 * The truth according to the log, independent of every replica: a separate interpretation in memory, and the rules on the
 * log. The truth about a name depends only on the offset.
 */
import { fromHex } from '@quorumscan/base'
import {
  type AppliedEntry,
  ansEntry,
  isOf,
  payloadOf,
  subscriptionInitialPayment,
} from '@quorumscan/ledger'
import { MemoryLedger } from '@quorumscan/ledger/memory-ledger'
import type { Contract } from '@quorumscan/model'
import { formatInstant, type Genesis, hashGenesis } from '@quorumscan/verifier'
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import type { LogLine } from '../history.ts'
import { createLogRules } from './log-rules.ts'

type Version = {
  readonly from: number
  to: number
  readonly expiresAt: number
  readonly entry: CertifiedEntry
}

export type Truth = Awaited<ReturnType<typeof readTruth>>

const FOREVER = Number.POSITIVE_INFINITY

export async function readTruth(log: readonly LogLine[], genesis: Genesis) {
  const genesisHash = await hashGenesis(genesis)
  const ledger = new MemoryLedger({ genesis, genesisHash })
  const rules = createLogRules(genesis, genesisHash)
  const versions = new Map<string, Version[]>()
  const contracts = new Map<string, { createdAt: number; archivedAt: number | null }>()
  const payments = new Map<string, string[]>()
  const recordTimes = [genesis.recordTime]
  const hashes = [genesisHash]
  const updateIds: (string | null)[] = [null]
  const gaps: string[] = []

  for (const [index, line] of log.entries()) {
    if (line.offset !== index + 1) {
      gaps.push(`the log has no entry at offset ${index + 1}`)
      break
    }
    const bytes = fromHex(line.bytes)
    const applied = ledger.append(bytes, line.recordTime)
    recordTimes.push(line.recordTime)
    hashes.push(applied.historyHash)
    updateIds.push(applied.result.kind === 'accepted' ? applied.result.update.updateId : null)
    rules.check(bytes, applied)
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
    addVersions(versions, applied)
  }

  const entryOfName = (name: string, offset: number): CertifiedEntry | null => {
    const isLive = ({ from, to, expiresAt }: Version) =>
      from <= offset && offset < to && expiresAt > (recordTimes[offset] ?? FOREVER)
    return versions.get(name)?.findLast(isLive)?.entry ?? null
  }
  const noGap = { rule: 'the log has no gap', samples: log.length, findings: gaps }
  return {
    headOffset: hashes.length - 1,
    /** The live entry at an offset, or null. */
    entryOfName,
    /** The lowest live name of a party at an offset (D-12). */
    entryOfParty(party: string, offset: number): CertifiedEntry | null {
      const names = [...versions.keys()].filter((name) => entryOfName(name, offset)?.user === party)
      const [lowest] = names.sort((one, other) =>
        Buffer.compare(Buffer.from(one), Buffer.from(other)),
      )
      return lowest === undefined ? null : entryOfName(lowest, offset)
    },
    /** Whether an entry of the name has expired by then. */
    hasExpired(name: string, offset: number): boolean {
      const time = recordTimes[offset] ?? 0
      const known = versions.get(name) ?? []
      return known.some(({ from, expiresAt }) => from <= offset && expiresAt <= time)
    },
    historyHash: (offset: number): string | null => hashes[offset] ?? null,
    updateId: (offset: number): string | null => updateIds[offset] ?? null,
    /** The offsets at which a contract was created and archived. */
    contract: (id: string) => contracts.get(id) ?? null,
    /** Initial payments of a subscription request, by contract id. */
    paymentsFor: (reference: string): readonly string[] => payments.get(reference) ?? [],
    /** The rules on the log itself. */
    rules: [noGap, ...rules.tallies(recordTimes.at(-1) ?? 0)],
  }
}

function addVersions(versions: Map<string, Version[]>, applied: AppliedEntry): void {
  for (const contract of applied.created) {
    if (!isOf(ansEntry, contract)) continue
    const { user, name, url, description, expiresAt } = payloadOf(ansEntry, contract)
    const { contractId: contract_id } = contract
    const entry = {
      contract_id,
      user,
      name,
      url,
      description,
      expires_at: formatInstant(expiresAt),
    }
    const version = { from: applied.offset, to: FOREVER, expiresAt, entry }
    versions.set(name, [...(versions.get(name) ?? []), version])
  }
}

function endVersion(versions: Map<string, Version[]>, contract: Contract, offset: number): void {
  if (!isOf(ansEntry, contract)) return
  const { name } = payloadOf(ansEntry, contract)
  for (const version of versions.get(name) ?? [])
    if (version.entry.contract_id === contract.contractId) version.to = offset
}
