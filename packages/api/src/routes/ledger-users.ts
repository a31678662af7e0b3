/** Users, rights and parties (D-28, D-32). */
import { Type } from 'typebox'
import { COST_STORED, COST_SUBMISSION, COST_USER_READ } from '../cost.ts'
import { defineRoutes, route } from '../route-def.ts'
import { LedgerParty, USER_ID_PATTERN } from '../schemas/ledger/grammar.ts'
import * as users from '../schemas/ledger/users.ts'
import * as m from '../schemas/members.ts'

/** The largest pages, which `/v2/version` also reports. */
export const USERS_PAGE_MAX = 1000
export const PARTIES_PAGE_MAX = 10_000

const ofUsers = { tag: 'users', query: users.providerQuery, auth: 'admin' } as const
const administered = {
  ...ofUsers,
  params: Type.Object({ id: m.formed(USER_ID_PATTERN, 'The user; 1 to 128 characters.') }),
  errorStatuses: [404],
} as const
const known = { ...administered, auth: 'user' } as const
const changed = { ...administered, cost: COST_STORED } as const

const ofParticipant = { auth: 'user' } as const
const ofParties = { ...ofUsers, tag: 'parties' } as const
const ofParty = { ...ofParties, params: Type.Object({ party: LedgerParty }) } as const

export const ledgerUserRoutes = defineRoutes({
  getAuthenticatedUser: route('GET /v2/authenticated-user', ofUsers, {
    summary: 'The user of the token.',
    response: users.UserAnswer,
    auth: 'user',
  }),
  listLedgerUsers: route('GET /v2/users', ofUsers, {
    summary: 'Users in byte order of their ids.',
    query: users.pageQuery(USERS_PAGE_MAX),
    response: users.UsersAnswer,
  }),
  createLedgerUser: route('POST /v2/users', ofUsers, {
    summary: 'Creates a user, with rights.',
    cost: COST_STORED,
    body: users.UserCreateRequest,
    response: users.UserAnswer,
    errorStatuses: [409],
  }),
  getLedgerUser: route('GET /v2/users/{id}', known, {
    summary: 'A user; each user may read its own.',
    response: users.UserAnswer,
  }),
  updateLedgerUser: route('PATCH /v2/users/{id}', changed, {
    summary: 'Changes primary party, deactivation or annotations, as the mask selects.',
    body: users.UserUpdateRequest,
    response: users.UserAnswer,
  }),
  deleteLedgerUser: route('DELETE /v2/users/{id}', changed, {
    summary: 'Deletes a user with its rights; its parties stay.',
    response: users.EmptyAnswer,
  }),
  updateUserProvider: route('PATCH /v2/users/{id}/identity-provider-id', changed, {
    summary: 'Moves a user to another identity provider; only the default one exists.',
    body: users.UserProviderRequest,
    response: users.EmptyAnswer,
  }),
  listRights: route('GET /v2/users/{id}/rights', known, {
    summary: 'The rights of a user; each user may read its own.',
    response: users.RightsAnswer,
  }),
  grantRights: route('POST /v2/users/{id}/rights', changed, {
    summary: 'Grants rights; answers those that are new.',
    body: users.RightsRequest,
    response: users.GrantAnswer,
  }),
  revokeRights: route('PATCH /v2/users/{id}/rights', changed, {
    summary: 'Revokes rights; answers those that the user had.',
    body: users.RightsRequest,
    response: users.RevokeAnswer,
  }),
  allocateParty: route('POST /v2/parties', ofParties, {
    summary: 'Allocates a party on this participant.',
    cost: COST_SUBMISSION,
    waits: true,
    body: users.PartyAllocateRequest,
    response: users.PartyAllocateAnswer,
    errorStatuses: [404],
  }),
  listParties: route('GET /v2/parties', ofParties, {
    summary: 'Parties of the network in byte order.',
    cost: COST_USER_READ,
    query: users.partiesQuery(PARTIES_PAGE_MAX),
    response: users.PartiesAnswer,
  }),
  getParticipantId: route('GET /v2/parties/participant-id', ofParticipant, {
    summary: 'The participant behind this interface.',
    tag: 'parties',
    response: users.ParticipantIdAnswer,
  }),
  getParty: route('GET /v2/parties/{party}', ofParty, {
    summary: 'A party, and others that the query names; without those that are not allocated.',
    query: users.partyQuery,
    response: users.PartyAnswer,
  }),
  updateParty: route('PATCH /v2/parties/{party}', ofParty, {
    summary: 'Changes the annotations of a party of this participant.',
    cost: COST_STORED,
    body: users.PartyUpdateRequest,
    response: users.PartyAllocateAnswer,
    errorStatuses: [404],
  }),
})
