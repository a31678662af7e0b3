/** Contracts of a snapshot: writes them with all by which they are found, and the names of those that are entries. */
import type { Contract, ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { putContract } from '../ingest/plan-contracts.ts'
import {
  beginEntry,
  type EntryFacts,
  entryFacts,
  putNames,
  putVersions,
  versionFieldOf,
} from '../ingest/plan-versions.ts'
import { readVersions } from '../ingest/store.ts'
import type { StateKeeper } from '../state-tree/state-keeper.ts'
import type { Layout } from '../storage/layout.ts'
import { SnapshotError } from './records.ts'
import type { WriteBehind } from './write-behind.ts'

export function createContractLoader(context: {
  readonly redis: Redis
  readonly writes: WriteBehind
  readonly layout: Layout
  readonly keeper: Pick<StateKeeper, 'add' | 'setDocuments'>
}) {
  const { redis, writes, layout, keeper } = context
  const names = new Set<string>()
  type Document = { readonly contract: Contract; readonly body: Uint8Array }
  const documents = new Map<ContractId, Document>()

  const loadEntries = async (begun: readonly { facts: EntryFacts; from: number }[]) => {
    // One that has expired, and the one that followed it.
    const again = begun.map(({ facts }) => facts.name).filter((name) => names.has(name))
    if (again.length > 0) await writes.drain()
    const versions = await readVersions(redis, 'names', again)
    for (const { facts, from } of begun) {
      names.add(facts.name)
      keeper.add(facts)
      beginEntry(versions, facts, from)
    }
    const entries = begun.map(({ facts }) => facts)
    putNames(writes, versions, entries)
  }

  return {
    async load(all: readonly Uint8Array[]): Promise<void> {
      const begun: { facts: EntryFacts; from: number }[] = []
      for (const body of all) {
        const filed = layout.codec.decodeFiled(body)
        const { contract } = filed
        putContract(filed, body, { commands: writes, layout })
        const kind = versionFieldOf(contract)?.kind
        if (kind === 'documents') documents.set(contract.contractId, { contract, body })
        if (kind === 'names') begun.push({ facts: entryFacts(contract), from: contract.offset })
      }
      await loadEntries(begun)
    },
    /** Once all are loaded: those in force of the templates that lookups read, by entity, the newest first. */
    loadDocuments(idsByEntity: ReadonlyMap<string, readonly ContractId[]>): void {
      const found = [...idsByEntity].map(([entity, ids]) => {
        const all = ids.map((id) => {
          const document = documents.get(id)
          if (document === undefined) throw new SnapshotError(`it lacks a contract of ${entity}`)
          return document
        })
        const inForce = { to: null, expires: null }
        const versions = all.map(({ contract, body }) => ({
          from: contract.offset,
          ...inForce,
          body,
        }))
        return { entity, versions, contracts: all.map(({ contract }) => contract) }
      })
      keeper.setDocuments(new Map(found.map(({ entity, contracts }) => [entity, contracts])))
      const versions = new Map(found.map(({ entity, versions }) => [entity, versions]))
      putVersions(writes, 'documents', versions)
    },
  }
}
