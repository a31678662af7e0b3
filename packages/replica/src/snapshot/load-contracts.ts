/** Writes the contracts of a snapshot with their index, and the names of those that are entries. */
import type { Contract, ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { putContract } from '../ingest/plan-contracts.ts'
import {
  beginEntry,
  documentVersion,
  putNames,
  putVersions,
  versionFieldOf,
} from '../ingest/plan-versions.ts'
import { readVersions } from '../ingest/store.ts'
import type { StateKeeper } from '../state-tree/state-keeper.ts'
import type { Layout } from '../storage/layout.ts'
import type { Version } from '../storage/versions.ts'
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
  const documents = new Map<
    ContractId,
    { readonly contract: Contract; readonly body: Uint8Array }
  >()

  return {
    async load(all: readonly Uint8Array[]): Promise<void> {
      const begun: Contract[] = []
      /** Names with an entry that has expired, and the one that followed it. */
      const again: string[] = []
      for (const body of all) {
        const filed = layout.codec.decodeFiled(body)
        const { contract } = filed
        putContract(filed, body, { commands: writes, layout })
        const found = versionFieldOf(contract)
        if (found?.kind === 'documents') documents.set(contract.contractId, { contract, body })
        if (found?.kind !== 'names') continue
        begun.push(contract)
        if (names.has(found.field)) again.push(found.field)
      }
      if (again.length > 0) await writes.drain()
      const versions = await readVersions(redis, 'names', again)
      const entries = begun.map((contract) => beginEntry(versions, contract))
      for (const entry of entries) {
        names.add(entry.name)
        keeper.add(entry)
      }
      putNames(writes, versions, entries)
    },
    /** After all contracts are loaded: those in force of the templates that lookups read, by entity, newest first. */
    loadDocuments(idsByEntity: ReadonlyMap<string, readonly ContractId[]>): void {
      const contracts = new Map<string, readonly Contract[]>()
      const versions = new Map<string, readonly Version[]>()
      for (const [entity, ids] of idsByEntity) {
        const found = ids.flatMap((id) => documents.get(id) ?? [])
        if (found.length < ids.length) throw new SnapshotError(`it lacks a contract of ${entity}`)
        contracts.set(
          entity,
          found.map(({ contract }) => contract),
        )
        versions.set(
          entity,
          found.map(({ contract, body }) => documentVersion(contract, body)),
        )
      }
      keeper.setDocuments(contracts)
      putVersions(writes, 'documents', versions)
    },
  }
}
