/**
 * What became of one contract, as its stakeholders see it (docs/upstream.md §L5.2). The update that archived it
 * holds all of it: it is found until that update is pruned, even where the update that created it was.
 */
import type { ContractId } from '@quorumscan/model'
import { createdEventOf } from './active-contracts.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { EventFilter } from './event-filter.ts'
import { contractEventsJson } from './projection.ts'

/** The answer; null where the contract is unknown or pruned, or nobody who asks has a stake in it. */
export async function contractEvents(
  { ledger, reads }: Pick<LedgerApiDeps, 'ledger' | 'reads'>,
  id: ContractId,
  filter: EventFilter,
): Promise<object | null> {
  const { active, history } = reads
  const { synchronizerId } = active
  const shown = (createdEvent: object | null, archivedEvent: object | null) =>
    createdEvent && {
      created: { createdEvent, synchronizerId },
      archived: archivedEvent && { archivedEvent, synchronizerId },
    }
  // In this order: what is archived between the two reads is found by the second.
  const [contract] = await ledger.contracts([id])
  if (contract) return shown(createdEventOf(contract, filter), null)
  const update = await history.archivalOf(id)
  if (update === null) return null
  const events: { readonly CreatedEvent?: object; readonly ArchivedEvent?: object } = Object.assign(
    {},
    ...contractEventsJson(update, id, filter).map((json) => JSON.parse(json)),
  )
  const earlier = active.contracts.archivedContracts(update).find((one) => one.contractId === id)
  // One that the update created too is shown from its event.
  const created = earlier ? createdEventOf(earlier, filter) : events.CreatedEvent
  return shown(created ?? null, events.ArchivedEvent ?? null)
}
