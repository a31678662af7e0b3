/** Where the ledger stands and what is active on it (docs/upstream.md §L5.2). */
import { canReadAs } from '@quorumscan/auth'
import { LedgerError } from '@quorumscan/errors'
import { type Offset, partyParticipant } from '@quorumscan/model'
import type { Context } from '../context.ts'
import { activeContracts, checkActiveContracts } from './active-contracts.ts'
import type { LedgerHandlersOf } from './handler-types.ts'
import { listOf } from './list.ts'
import { participantIdOf } from './participant-id.ts'
import { afterLedgerEnd, nonPositiveOffset } from './update-request.ts'

/** The name by which a participant knows its synchronizer. */
const SYNCHRONIZER_ALIAS = 'global'

export function stateHandlers(
  context: Pick<Context, 'ledger' | 'reads' | 'participantId'>,
): LedgerHandlersOf<
  | 'getLedgerEnd'
  | 'getActiveContracts'
  | 'getConnectedSynchronizers'
  | 'getLatestPrunedOffsets'
  | 'pruneParticipant'
> {
  const { active, guard, history } = context.reads
  return {
    async getLedgerEnd() {
      return { offset: context.ledger.head().offset }
    },
    async getLatestPrunedOffsets() {
      return prunedOffsets(await active.prunedOffset())
    },
    async pruneParticipant({ body: { pruneUpTo } }) {
      const end = active.feed.end().offset
      if (pruneUpTo <= 0) throw nonPositiveOffset('prune_up_to', pruneUpTo)
      if (pruneUpTo > end) throw afterLedgerEnd('prune_up_to', pruneUpTo, end)
      return prunedOffsets(await history.prune(Number(pruneUpTo)))
    },
    async getActiveContracts({ body, query, caller, signal }) {
      const wanted = await checkActiveContracts(active, body, caller)
      return await listOf((ended) => activeContracts(active, wanted, guard.watch(caller, ended)), {
        limit: query.limit,
        idleMs: query.stream_idle_timeout_ms ?? null,
        clock: active.clock,
        signal,
      })
    },
    async getConnectedSynchronizers({ query, caller }) {
      const { party } = query
      if (party !== undefined && !canReadAs(caller.rights, party))
        throw new LedgerError('PERMISSION_DENIED', `${caller.userId} may not read as ${party}`)
      const isHosted =
        party === undefined || participantIdOf(partyParticipant(party)) === context.participantId
      const permission = isHosted
        ? 'PARTICIPANT_PERMISSION_SUBMISSION'
        : 'PARTICIPANT_PERMISSION_UNSPECIFIED'
      const { synchronizerId } = active
      return {
        connectedSynchronizers: [
          { synchronizerAlias: SYNCHRONIZER_ALIAS, synchronizerId, permission },
        ],
      }
    },
  }
}

function prunedOffsets(offset: Offset) {
  return {
    participantPrunedUpToInclusive: offset,
    allDivulgedContractsPrunedUpToInclusive: offset,
  }
}
