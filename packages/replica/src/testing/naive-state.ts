/** The state by its definition, built from scratch at every offset. The packed tree must equal it. */
import { createHash } from 'node:crypto'
import { type AppliedEntry, activityRowsOf, svPartyOf } from '@quorumscan/ledger'
import { MemoryLedger, type Scenario } from '@quorumscan/ledger/testing'
import { type Contract, parseTime } from '@quorumscan/model'
import { maxFaulty } from '@quorumscan/verifier'
import { documentLeaves } from '../state-tree/state-values.ts'
import { entityOf } from '../storage/step.ts'

export type NaiveLeaf = {
  readonly key: Buffer
  /** In µs; null: never. */
  readonly expiresAt: number | null
  readonly value: string
}

export type NaiveState = {
  readonly offset: number
  readonly recordTime: number
  readonly leaves: readonly NaiveLeaf[]
  /** Hex. */
  readonly root: string
}

/** The state at each certifiable offset of the scenario's log. */
export function naiveStates(scenario: Scenario): readonly NaiveState[] {
  const { network } = scenario
  const ledger = new MemoryLedger(network)
  const rows: NaiveRow[] = []
  const states = [naiveState(scenario, ledger, rows)]
  const { synchronizerId } = network.genesis
  let previous = network.genesis.recordTime
  for (const { bytes, recordTime } of scenario.ledger.entries()) {
    const { offset, result }: AppliedEntry = ledger.append(bytes, recordTime)
    for (const { activity } of activityRowsOf({ offset, recordTime, synchronizerId, result }))
      rows.push({ eventId: activity.event_id, recordTime, row: JSON.stringify(activity) })
    const isNewInterval = Math.floor(recordTime / 200_000) > Math.floor(previous / 200_000)
    previous = recordTime
    if (bytes.byteLength === 0 || offset % 1024 === 0 || isNewInterval)
      states.push(naiveState(scenario, ledger, rows))
  }
  return states
}

function naiveState({ network }: Scenario, ledger: MemoryLedger, rows: readonly NaiveRow[]) {
  const { genesis } = network
  const contracts = ledger.contracts()
  const entries = contracts.filter((contract) => entityOf(contract) === 'AnsEntry')
  const synthetic = [
    { name: 'dso.ns', user: genesis.dso },
    ...genesis.nodes.map((node) => ({ name: `${node.name}.sv.ns`, user: svPartyOf(node) })),
  ]
  const members = genesis.nodes.map(
    ({ name, scanKey, operatorKey }) =>
      `{"name":"${name}","operator_key":"${operatorKey}","scan_key":"${scanKey}"}`,
  )
  const n = genesis.nodes.length
  const leaves = [
    ...entries.flatMap(entryLeaves),
    ...synthetic.map(({ name, user }) => ({
      key: keyOf('n', name, ''),
      expiresAt: null,
      value: `{"contract_id":null,"user":"${user}","name":"${name}","url":"","description":"","expires_at":null}`,
    })),
    ...documentLeaves(documentsOf(contracts), genesis).map(({ key, value }) => ({
      key: keyOf(...key),
      expiresAt: null,
      value,
    })),
    {
      key: keyOf('m'),
      expiresAt: null,
      value: `{"f":${maxFaulty(n)},"members":[${members.join(',')}],"n":${n}}`,
    },
  ]
  const { offset, recordTime } = ledger.head()
  leaves.push(activitiesLeaf(rows))
  const sorted = leaves.toSorted((a, b) => Buffer.compare(a.key, b.key))
  return { offset, recordTime, leaves: sorted, root: rootOf(sorted).toString('hex') }
}

type NaiveRow = { readonly eventId: string; readonly recordTime: number; readonly row: string }

function activitiesLeaf(rows: readonly NaiveRow[]): NaiveLeaf {
  const root = historyRoot(rows).toString('hex')
  return { key: keyOf('a'), expiresAt: null, value: `{"root":"${root}","size":${rows.length}}` }
}

/** As RFC 9162 defines it. */
function historyRoot(rows: readonly NaiveRow[]): Buffer {
  const [first] = rows
  if (first === undefined) return sha256()
  if (rows.length > 1) {
    const k = 2 ** Math.ceil(Math.log2(rows.length) - 1)
    return sha256(Buffer.of(1), historyRoot(rows.slice(0, k)), historyRoot(rows.slice(k)))
  }
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(first.recordTime))
  return sha256(Buffer.of(0), Buffer.from(first.eventId), time, sha256(Buffer.from(first.row)))
}

function entryLeaves({ contractId, payload }: Contract): NaiveLeaf[] {
  const { user, name, url, description, expiresAt } = payload as Record<string, string>
  const [contract_id, expires_at] = [contractId, expiresAt]
  const value = JSON.stringify({ contract_id, user, name, url, description, expires_at })
  const leaf = { expiresAt: parseTime(expiresAt as string) as number, value }
  return [
    { ...leaf, key: keyOf('n', name as string, contractId) },
    { ...leaf, key: keyOf('p', user as string, name as string, contractId) },
  ]
}

/** The newest first. */
function documentsOf(contracts: readonly Contract[]): Map<string, readonly Contract[]> {
  const newestFirst = contracts.toSorted((a, b) => b.offset - a.offset || b.nodeId - a.nodeId)
  const documents = new Map<string, Contract[]>()
  for (const contract of newestFirst)
    documents.set(entityOf(contract), [...(documents.get(entityOf(contract)) ?? []), contract])
  return documents
}

function keyOf(...components: readonly string[]): Buffer {
  return Buffer.from(components.map((component) => `${component}\0`).join(''))
}

function rootOf(sorted: readonly NaiveLeaf[], bit = 0): Buffer {
  const [first] = sorted
  if (first === undefined) return Buffer.alloc(32)
  if (sorted.length === 1) return leafHash(first)
  const right = sorted.findIndex(({ key }) => bitOf(key, bit) === 1)
  if (right <= 0) return rootOf(sorted, bit + 1)
  const head = Buffer.from([1, bit >> 8, bit & 255])
  const halves = [sorted.slice(0, right), sorted.slice(right)]
  return sha256(head, ...halves.map((half) => rootOf(half, bit + 1)))
}

function leafHash({ key, expiresAt, value }: NaiveLeaf): Buffer {
  const head = Buffer.alloc(3)
  head.writeUInt16BE(key.byteLength, 1)
  const expiry = Buffer.alloc(8, 0xff)
  if (expiresAt !== null) expiry.writeBigUInt64BE(BigInt(expiresAt))
  return sha256(head, key, expiry, sha256(Buffer.from(value)))
}

function bitOf(key: Buffer, bit: number): number {
  return ((key[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1
}

function sha256(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
