/** Users, rights and parties (D-28, D-32). */
import { Type } from 'typebox'
import { defineRoutes } from '../define-routes.ts'
import { LedgerParty, USER_ID_PATTERN } from '../schemas/ledger/grammar.ts'
import {
  EmptyAnswer,
  GrantAnswer,
  PackagesAnswer,
  ParticipantIdAnswer,
  PartiesAnswer,
  PartyAllocateAnswer,
  PartyAllocateRequest,
  PartyAnswer,
  PartyUpdateRequest,
  pageQuery,
  providerQuery,
  RevokeAnswer,
  RightsAnswer,
  RightsRequest,
  UserAnswer,
  UserCreateRequest,
  UserProviderRequest,
  UsersAnswer,
  UserUpdateRequest,
} from '../schemas/ledger/users.ts'

/** The largest pages, also told by `/v2/version`. */
export const USERS_PAGE_MAX = 1000
export const PARTIES_PAGE_MAX = 10_000

const ofUser = {
  tag: 'users',
  params: Type.Object({
    id: Type.String({ pattern: USER_ID_PATTERN, description: 'The user; 1 to 128 characters.' }),
  }),
  query: providerQuery,
} as const

const known = { ...ofUser, auth: 'user', errorStatuses: [404] } as const
const administered = { ...ofUser, auth: 'admin', errorStatuses: [404] } as const

const ofParty = {
  tag: 'parties',
  params: Type.Object({ party: LedgerParty }),
  query: providerQuery,
  auth: 'admin',
} as const

export const ledgerUserRoutes = defineRoutes({
  getAuthenticatedUser: {
    method: 'GET',
    path: '/v2/authenticated-user',
    query: providerQuery,
    summary: 'The user that the token speaks for.',
    tag: 'users',
    response: UserAnswer,
    auth: 'user',
  },
  listLedgerUsers: {
    method: 'GET',
    path: '/v2/users',
    summary: 'Users in byte order of their ids.',
    tag: 'users',
    query: pageQuery(USERS_PAGE_MAX),
    response: UsersAnswer,
    auth: 'admin',
  },
  createLedgerUser: {
    method: 'POST',
    path: '/v2/users',
    summary: 'Makes a user, with rights.',
    query: providerQuery,
    tag: 'users',
    body: UserCreateRequest,
    response: UserAnswer,
    auth: 'admin',
    errorStatuses: [409],
  },
  getLedgerUser: {
    ...known,
    method: 'GET',
    path: '/v2/users/{id}',
    summary: 'A user; everyone may ask about oneself.',
    response: UserAnswer,
  },
  updateLedgerUser: {
    ...administered,
    method: 'PATCH',
    path: '/v2/users/{id}',
    summary: 'Changes primary party, deactivation or annotations, as the mask names them.',
    body: UserUpdateRequest,
    response: UserAnswer,
  },
  deleteLedgerUser: {
    ...administered,
    method: 'DELETE',
    path: '/v2/users/{id}',
    summary: 'Deletes a user with its rights; its parties stay.',
    response: EmptyAnswer,
  },
  updateUserProvider: {
    ...administered,
    method: 'PATCH',
    path: '/v2/users/{id}/identity-provider-id',
    summary: 'Moves a user to another identity provider; there is none but the default one.',
    body: UserProviderRequest,
    response: EmptyAnswer,
  },
  listRights: {
    ...known,
    method: 'GET',
    path: '/v2/users/{id}/rights',
    summary: 'What a user may do; everyone may ask about oneself.',
    response: RightsAnswer,
  },
  grantRights: {
    ...administered,
    method: 'POST',
    path: '/v2/users/{id}/rights',
    summary: 'Grants rights; tells those that are new.',
    body: RightsRequest,
    response: GrantAnswer,
  },
  revokeRights: {
    ...administered,
    method: 'PATCH',
    path: '/v2/users/{id}/rights',
    summary: 'Takes rights away; tells those that were there.',
    body: RightsRequest,
    response: RevokeAnswer,
  },
  allocateParty: {
    method: 'POST',
    path: '/v2/parties',
    query: providerQuery,
    summary: 'Allocates a party on this participant.',
    tag: 'parties',
    body: PartyAllocateRequest,
    response: PartyAllocateAnswer,
    auth: 'admin',
    errorStatuses: [404],
  },
  listParties: {
    method: 'GET',
    path: '/v2/parties',
    summary: 'Parties of the network in byte order.',
    tag: 'parties',
    query: pageQuery(PARTIES_PAGE_MAX),
    response: PartiesAnswer,
    auth: 'admin',
  },
  getParticipantId: {
    method: 'GET',
    path: '/v2/parties/participant-id',
    summary: 'The participant behind this interface.',
    tag: 'parties',
    response: ParticipantIdAnswer,
    auth: 'user',
  },
  getParty: {
    ...ofParty,
    method: 'GET',
    path: '/v2/parties/{party}',
    summary: 'A party; an empty list for one that is not allocated.',
    response: PartyAnswer,
  },
  updateParty: {
    ...ofParty,
    method: 'PATCH',
    path: '/v2/parties/{party}',
    summary: 'Changes the annotations of a party of this participant.',
    body: PartyUpdateRequest,
    response: PartyAllocateAnswer,
    errorStatuses: [404],
  },
  listPackages: {
    method: 'GET',
    path: '/v2/packages',
    summary: 'The ids of the packages that this participant knows.',
    tag: 'packages',
    response: PackagesAnswer,
    auth: 'user',
  },
})
