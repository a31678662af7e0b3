/** Parties on the ledger interface (D-28, D-30). */
import { type LedgerPartyDetails, PARTIES_PAGE_MAX, PARTY_MASK_PATHS } from '@quorumscan/api'
import { assert, randomHex } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import {
  isPartyId,
  type PartyId,
  participantOfKey,
  partyIdOf,
  partyParticipant,
} from '@quorumscan/model'
import { mergeRights } from '@quorumscan/users'
import {
  invalidArgument,
  isPartyString,
  missingField,
  optionalSynchronizerId,
  quoted,
  requiredUserId,
} from '../commands/grammar.ts'
import type { LedgerApiDeps } from '../dependencies.ts'
import type { LedgerHandlersOf } from '../http/handler.ts'
import { checkProvider, nextPageToken, readPage } from './handlers.ts'
import {
  readAnnotationsChange,
  readMask,
  readNewAnnotations,
  readVersionCheck,
  versionText,
} from './metadata.ts'

/** Parties of one read of details. */
const PARTIES_MAX = 100

type PartiesDeps = Pick<
  LedgerApiDeps,
  'ledger' | 'store' | 'registration' | 'genesis' | 'participantId' | 'random' | 'assertLive'
>

export function partyHandlers(deps: PartiesDeps): LedgerHandlersOf<'parties'> {
  const { ledger, store, registration, participantId } = deps
  const here = participantOfKey(registration.participant)

  const detailsOf = async (parties: readonly PartyId[]): Promise<LedgerPartyDetails[]> => {
    const found = await store.parties.details(parties)
    return parties.map((party, index) => {
      const { version = 0, annotations = {} } = found[index] ?? {}
      return {
        party,
        isLocal: partyParticipant(party) === here,
        localMetadata: { resourceVersion: versionText(version), annotations: { ...annotations } },
        identityProviderId: '',
      }
    })
  }
  const detailsOfOne = async (party: PartyId): Promise<LedgerPartyDetails> => {
    const [details] = await detailsOf([party])
    assert(details !== undefined, 'each party has details')
    return details
  }
  const isAllocated = async (party: string): Promise<boolean> =>
    isPartyId(party) && (await ledger.isPartyAllocated(party))

  return {
    async allocateParty(request) {
      deps.assertLive()
      const { body, signal } = request
      const hint =
        body.partyIdHint === '' ? `party-${randomHex(deps.random, 16)}` : body.partyIdHint
      if (partyIdOf(hint, registration.participant) === undefined)
        throw invalidArgument(`party_id_hint: ${quoted(hint)} is not 1 to 185 of A-Z a-z 0-9 _ -`)
      const synchronizerId = optionalSynchronizerId(body.synchronizerId, 'synchronizer_id')
      if (synchronizerId !== '' && synchronizerId !== deps.genesis.synchronizerId)
        throw invalidArgument(`this participant is not connected to ${quoted(synchronizerId)}`)
      const annotations = readNewAnnotations(body.localMetadata, 'local_metadata')
      const userId = body.userId === '' ? '' : requiredUserId(body.userId, 'user_id')
      if (userId !== '' && (await store.users.get(userId)) === null)
        throw new LedgerError('USER_NOT_FOUND', `The user ${userId} does not exist.`)
      const { party, isNew } = await registration.allocateParty({ hint, owner: userId }, signal)
      if (!isNew) throw invalidArgument(`the party ${party} is already allocated`)
      if (Object.keys(annotations).length > 0)
        await store.parties.update(party, (current) => ({ ...current, annotations }))
      if (userId !== '')
        await store.users.update(userId, (record) => ({
          ...record,
          rights: mergeRights(record.rights, [{ kind: 'CanActAs', party }]),
        }))
      return { partyDetails: await detailsOfOne(party) }
    },
    async listParties(request) {
      const page = readPage(request.query, { sizeMax: PARTIES_PAGE_MAX, isToken: isPartyId })
      const prefix = request.query['filter-party'] ?? ''
      const parties = await ledger.parties({ ...page, prefix })
      return { partyDetails: await detailsOf(parties), nextPageToken: nextPageToken(parties, page) }
    },
    async getParty(request) {
      const parties = [...new Set([request.params.party, ...(request.query.parties ?? [])])]
      if (parties.length > PARTIES_MAX)
        throw invalidArgument(`at most ${PARTIES_MAX} parties are read at once`)
      for (const party of parties)
        if (!isPartyString(party))
          throw invalidArgument(`${quoted(party)} is not a party identifier`)
      const allocated = await Promise.all(parties.map(isAllocated))
      return { partyDetails: await detailsOf(parties.filter((_, index) => allocated[index])) }
    },
    async updateParty({ params: { party }, body }) {
      const { partyDetails, updateMask } = body
      if (partyDetails === undefined) throw missingField('party_details')
      if (partyDetails.party !== '' && partyDetails.party !== party)
        throw invalidArgument('party_details.party differs from the party of the path')
      checkProvider(partyDetails.identityProviderId)
      const isSelected = readMask(updateMask, PARTY_MASK_PATHS)
      const { localMetadata, isLocal } = partyDetails
      const field = 'party_details.local_metadata'
      const code = 'CONCURRENT_PARTY_DETAILS_UPDATE_DETECTED'
      const checkVersion = readVersionCheck(localMetadata, { field, code })
      const changeAnnotations = readAnnotationsChange(localMetadata, field)
      // Only parties of this participant can be changed.
      if (isSelected('is_local') && !isLocal)
        throw invalidArgument('party_details.is_local cannot be changed, and is true')
      if (!(await isAllocated(party)) || partyParticipant(party) !== here)
        throw new LedgerError(
          'PARTY_NOT_KNOWN_ON_LEDGER',
          `${quoted(party)} is not a party of this participant`,
        )
      await store.parties.update(party, (current) => {
        checkVersion(current.version)
        const annotations = isSelected('local_metadata.annotations')
          ? changeAnnotations(current.annotations)
          : current.annotations
        return { ...current, annotations }
      })
      return { partyDetails: await detailsOfOne(party) }
    },
    getParticipantId: async () => ({ participantId }),
  }
}
