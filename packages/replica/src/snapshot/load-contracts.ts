/** Contracts of a snapshot: writes them with all by which they are found, and the names of those that are entries. */
import type { Contract, ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { putContract } from '../ingest/plan-contracts.ts'
import {
  beginEntry,
  DOCUMENT_ENTITIES,
  type EntryFacts,
  entryFacts,
  putNames,
  putVersions,
} from '../ingest/plan-versions.ts'
import { entityOf } from '../ingest/step.ts'
import { readVersions } from '../ingest/store.ts'
import type { StateKeeper } from '../state-tree/state-keeper.ts'
import type { Layout } from '../storage/layout.ts'
import { SnapshotError } from './records.ts'
import type { WriteBehind } from './write-behind.ts'

export type ContractLoader = {
  load(all: readonly Uint8Array[]): Promise<void>
  /** Once all are loaded: those in force of the templates that lookups read, by entity, the newest first. */
  loadDocuments(idsByEntity: ReadonlyMap<string, readonly ContractId[]>): void
}

export function createContractLoader(context: {
  readonly redis: Redis
  readonly writes: WriteBehind
  readonly layout: Layout
  readonly keeper: Pick<StateKeeper, 'add' | 'setDocuments'>
}): ContractLoader {
  const { redis, writes, layout, keeper } = context
  const names = new Set<string>()
  const documents = new Map<
    ContractId,
    { readonly contract: Contract; readonly body: Uint8Array }
  >()

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
    const commands = putNames(
      versions,
      begun.map(({ facts }) => facts),
    )
    for (const command of commands) writes.add(...command)
  }

  return {
    async load(all) {
      const begun: { facts: EntryFacts; from: number }[] = []
      for (const body of all) {
        const filed = layout.codec.decodeFiled(body)
        const { contract } = filed
        putContract(filed, body, { commands: writes, layout })
        const entity = entityOf(contract)
        if (DOCUMENT_ENTITIES.has(entity)) documents.set(contract.contractId, { contract, body })
        if (entity === 'AnsEntry')
          begun.push({ facts: entryFacts(contract), from: contract.offset })
      }
      await loadEntries(begun)
    },
    loadDocuments(idsByEntity) {
      const found = [...idsByEntity].map(([entity, ids]) => {
        const all = ids.map((id) => {
          const document = documents.get(id)
          if (document === undefined) throw new SnapshotError(`it lacks a contract of ${entity}`)
          return document
        })
        return [entity, all] as const
      })
      keeper.setDocuments(
        new Map(found.map(([entity, all]) => [entity, all.map(({ contract }) => contract)])),
      )
      const versions = found.map(([entity, all]) => {
        const inForce = { to: null, expires: null }
        return [
          entity,
          all.map(({ contract, body }) => ({ from: contract.offset, ...inForce, body })),
        ] as const
      })
      for (const command of putVersions('documents', new Map(versions))) writes.add(...command)
    },
  }
}
