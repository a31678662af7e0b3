/**
 * The changes after the offset of a snapshot that is being taken. Together with the present state they give the state at
 * that offset. Each batch is added before it is written, so that a contract that a read does not find any more is here.
 */
import { toHex } from '@quorumscan/base'
import type { ChangeRecord, ContractCodec } from '@quorumscan/ledger'
import type { Offset, PartyId } from '@quorumscan/model'
import type { Step } from '../ingest/step.ts'
import { placeOfId } from '../storage/intern.ts'

/** The most changes to remember, about 1 KiB each. A snapshot that takes longer is abandoned. */
const REMEMBERED_MAX = 200_000

export function createSince(offset: Offset, codec: Pick<ContractCodec, 'encode'>) {
  const archivedByBucket = new Map<string, Map<string, Uint8Array>>()
  const replaced = new Map<string, ChangeRecord>()
  const seen = new Set<string>()
  const allocated = new Set<PartyId>()
  let remembered = 0

  return {
    /** False if there are too many changes. */
    add({ delta, replacedChange }: Step): boolean {
      for (const contract of delta.archived) {
        if (contract.offset > offset) continue
        const { bucket, rest } = placeOfId(contract.contractId)
        const archived = archivedByBucket.get(bucket) ?? new Map<string, Uint8Array>()
        archivedByBucket.set(bucket, archived)
        archived.set(toHex(rest), codec.encode(contract))
        remembered++
      }
      const id = delta.change?.id
      if (id !== undefined && replacedChange != null && replacedChange.offset <= offset) {
        replaced.set(id, replacedChange)
        remembered++
      }
      if (delta.seen !== null) seen.add(delta.seen.id)
      for (const party of delta.allocated) allocated.add(party)
      remembered += 1 + delta.allocated.length
      return remembered <= REMEMBERED_MAX
    },
    /** Archived contracts of a bucket: rest of the id in hex -> stored form. Returns each contract once. */
    takeArchived(bucket: string): ReadonlyMap<string, Uint8Array> {
      const archived = archivedByBucket.get(bucket) ?? new Map()
      archivedByBucket.delete(bucket)
      return archived
    },
    /** Change records that were replaced, by the id of the change in hex. */
    replacedChanges: (): ReadonlyMap<string, ChangeRecord> => replaced,
    /** @param id - Of an entry, hex. */
    isSeen: (id: string) => seen.has(id),
    isAllocated: (party: PartyId) => allocated.has(party),
  }
}

export type Since = ReturnType<typeof createSince>
