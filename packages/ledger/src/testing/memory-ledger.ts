/**
 * A ledger in memory for tests and as an oracle for replicas: applies entries one by one, keeps
 * contracts as they are read back from their stored form, and loads only the cells that interpretation needs.
 */
import { assert, type KeyPair, sha256, toHex } from '@quorumscan/base'
import type {
  Command,
  Contract,
  ContractId,
  DisclosedContract,
  EntryResult,
  Micros,
  PartyId,
  Submission,
} from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import { cellName } from '../cells.ts'
import { type ContractCodec, createContractCodec } from '../contract-codec.ts'
import { disclose } from '../contract-id.ts'
import { amountsOf, dueOf, keysOf } from '../contract-keys.ts'
import { decodeEntry, encodeEntry } from '../entry.ts'
import { genesisDelta } from '../genesis-state.ts'
import { nextHistoryHash } from '../history.ts'
import { interpret } from '../interpret.ts'
import type { AppliedEntry, DueItem, Head, LogEntry, Total } from '../ports.ts'
import { payloadOf } from '../registry.ts'
import type { CellKey, ChangeRecord, StateDelta } from '../state.ts'
import { type Active, isOf, type Template } from '../template.ts'
import { ansRules } from '../templates/ans-rules.ts'
import { coinRules } from '../templates/coin-rules.ts'
import { dsoRules } from '../templates/dso-rules.ts'
import { type LoadedCell, WorkingState } from '../working-state.ts'
import { submissionOf } from './submissions.ts'

/** More than any entry needs: a loop of missing cells that does not end is a bug. */
const ROUND_TRIPS_MAX = 20

export type SubmitOptions = {
  readonly keyPair: KeyPair
  readonly commands: readonly Command[]
} & Partial<Omit<Submission, 'genesis' | 'participant' | 'commands'>>

export class MemoryLedger {
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly #codec: ContractCodec
  readonly #contracts = new Map<ContractId, Contract>()
  readonly #indexes = new Map<string, Set<ContractId>>()
  readonly #changes = new Map<string, ChangeRecord>()
  readonly #seen = new Map<string, Micros>()
  readonly #parties = new Set<PartyId>()
  readonly #entries: LogEntry[] = []
  readonly #results: EntryResult[] = []
  #head: Head
  #submissions = 0
  /** Times that cells had to be fetched, over all entries. */
  roundTrips = 0

  constructor(network: { readonly genesis: Genesis; readonly genesisHash: string }) {
    this.genesis = network.genesis
    this.genesisHash = network.genesisHash
    this.#codec = createContractCodec({
      genesisHash: network.genesisHash,
      dso: network.genesis.dso,
    })
    this.#store(genesisDelta(network.genesis, network.genesisHash))
    this.#head = {
      offset: 0,
      recordTime: network.genesis.recordTime,
      historyHash: network.genesisHash,
      entryHash: network.genesisHash,
    }
  }

  head(): Head {
    return this.#head
  }

  /** The log so far: entry N at index N − 1. */
  entries(): readonly LogEntry[] {
    return this.#entries
  }

  results(): readonly EntryResult[] {
    return this.#results
  }

  /** Applies bytes as the next entry, by default 1 µs after the last one. */
  append(bytes: Uint8Array, recordTime: Micros = this.#head.recordTime + 1): AppliedEntry {
    const entry = { offset: this.#head.offset + 1, recordTime, bytes }
    assert(recordTime > this.#head.recordTime, 'record time increases')
    const { result, delta } = this.#interpret(entry)
    this.#store(delta)
    const entryHash = toHex(sha256(bytes))
    const historyHash = nextHistoryHash({
      previous: this.#head.historyHash,
      offset: entry.offset,
      recordTime,
      entryHash,
      result,
    })
    this.#head = { offset: entry.offset, recordTime, historyHash, entryHash }
    this.#entries.push(entry)
    this.#results.push(result)
    const { created, archived } = delta
    return { ...this.#head, result, created, archived }
  }

  /** Signs and applies a submission. Missing options get neutral values. */
  submit(options: SubmitOptions): EntryResult {
    return this.append(this.sign(options)).result
  }

  /** Entry bytes for a submission, valid for the next minute of record time. */
  sign({ keyPair, ...options }: SubmitOptions): Uint8Array {
    const id = String(++this.#submissions).padStart(32, '0')
    const submission = submissionOf({
      genesis: this.genesisHash,
      participant: keyPair.publicKey,
      id,
      notAfter: this.#head.recordTime + 60_000_000,
      commandId: `command-${id}`,
      disclosed: this.#rulesIn(options.commands),
      ...options,
    })
    return encodeEntry(submission, keyPair)
  }

  /** Advances record time by a checkpoint. */
  advance(micros: Micros): void {
    this.append(new Uint8Array(), this.#head.recordTime + micros)
  }

  contract(id: ContractId): Contract | null {
    return this.#contracts.get(id) ?? null
  }

  /** The record of this id, also one that may go. */
  change(id: string): ChangeRecord | null {
    return this.#changes.get(id) ?? null
  }

  /** Every active contract, by id. */
  contracts(): readonly Contract[] {
    return [...this.#contracts.keys()].sort().map((id) => this.contract(id) as Contract)
  }

  /** Active contracts of one template, by id. */
  all<P>(template: Template<P>): readonly Active<P>[] {
    return this.contracts()
      .filter((contract) => isOf(template, contract))
      .map((contract) => ({
        contractId: contract.contractId,
        contract,
        payload: payloadOf(template, contract),
      }))
  }

  /** By id. */
  byKey(key: string): readonly Contract[] {
    return [...(this.#indexes.get(key) ?? [])].sort().map((id) => this.contract(id) as Contract)
  }

  /** As of the port `Ledger`. */
  totals(keys: readonly string[]): readonly Total[] {
    return keys.map((key) => {
      const entries = this.byKey(key)
        .flatMap(amountsOf)
        .filter((entry) => entry.key === key)
      return { count: entries.length, sum: entries.reduce((sum, { amount }) => sum + amount, 0n) }
    })
  }

  /** The due work at the record time of the head, oldest first. */
  due(): readonly DueItem[] {
    return this.contracts()
      .flatMap(dueOf)
      .filter(({ at }) => at <= this.#head.recordTime)
      .sort((a, b) => a.at - b.at)
  }

  isPartyAllocated(party: PartyId): boolean {
    return this.#parties.has(party)
  }

  /** The operator's rules that the commands name, disclosed, because a submitter is no stakeholder of them. */
  #rulesIn(commands: readonly Command[]): readonly DisclosedContract[] {
    const text = JSON.stringify(commands)
    return [ansRules, coinRules, dsoRules]
      .flatMap(({ entity }) => this.byKey(`singleton:${entity}`))
      .filter(({ contractId }) => text.includes(contractId))
      .map(disclose)
  }

  #interpret(entry: LogEntry): { result: EntryResult; delta: StateDelta } {
    const { genesis, genesisHash } = this
    const decoded = decodeEntry(entry.bytes, genesisHash)
    const view = new WorkingState()
    const asked = new Set<string>()
    for (let roundTrip = 0; roundTrip < ROUND_TRIPS_MAX; roundTrip++) {
      const interpretation = interpret({ entry, decoded, genesis, genesisHash, view })
      if (interpretation.kind === 'done') return interpretation
      assert(interpretation.kind === 'needs', 'tests know the version in force')
      this.roundTrips++
      for (const key of interpretation.keys) {
        assert(!asked.has(cellName(key)), `${cellName(key)} is asked for once`)
        asked.add(cellName(key))
      }
      view.load(interpretation.keys.map((key) => this.#cell(key)))
    }
    throw new Error(`interpretation asked for cells more than ${ROUND_TRIPS_MAX} times`)
  }

  #cell(key: CellKey): LoadedCell {
    switch (key.kind) {
      case 'contract':
        return { ...key, value: this.contract(key.id) }
      case 'index':
        return { ...key, value: [...(this.#indexes.get(key.key) ?? [])].sort() }
      case 'change':
        return { ...key, value: this.#changes.get(key.id) ?? null }
      case 'seen':
        return { ...key, value: this.#seen.get(key.id) ?? null }
      case 'party':
        return { ...key, value: this.#parties.has(key.id) }
    }
  }

  #store(delta: StateDelta): void {
    for (const contract of delta.archived) {
      this.#contracts.delete(contract.contractId)
      for (const key of indexKeysOf(contract)) this.#indexes.get(key)?.delete(contract.contractId)
    }
    for (const contract of delta.created) {
      this.#contracts.set(contract.contractId, this.#codec.decode(this.#codec.encode(contract)))
      for (const key of indexKeysOf(contract)) {
        const ids = this.#indexes.get(key) ?? new Set()
        this.#indexes.set(key, ids.add(contract.contractId))
      }
    }
    for (const { id, record } of delta.changes) this.#changes.set(id, record)
    if (delta.seen !== null) this.#seen.set(delta.seen.id, delta.seen.until)
    for (const party of delta.allocated) this.#parties.add(party)
  }
}

/** Index keys and lists by amount. */
function indexKeysOf(contract: Contract): readonly string[] {
  return [...keysOf(contract), ...amountsOf(contract).map(({ key }) => key)]
}
