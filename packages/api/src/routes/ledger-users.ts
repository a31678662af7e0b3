/** Users, rights and parties (D-28, D-32). */

import { Type } from 'typebox'
import { defineRoutes } from '../define-routes.ts'
import { LedgerParty, USER_ID_PATTERN } from '../schemas/ledger/grammar.ts'
import * as users from '../schemas/ledger/users.ts'
import * as m from '../schemas/members.ts'

/** The largest pages, also told by `/v2/version`. */
export const USERS_PAGE_MAX = 1000
export const PARTIES_PAGE_MAX = 10_000

const ofUser = {
  tag: 'users',
  params: Type.Object({
    id: m.formed(USER_ID_PATTERN, 'The user; 1 to 128 characters.'),
  }),
  query: users.providerQuery,
} as const

const known = { ...ofUser, auth: 'user', errorStatuses: [404] } as const
const administered = { ...ofUser, auth: 'admin', errorStatuses: [404] } as const

const ofParty = {
  tag: 'parties',
  params: Type.Object({ party: LedgerParty }),
  query: users.providerQuery,
  auth: 'admin',
} as const

export const ledgerUserRoutes = defineRoutes({
  getAuthenticatedUser: {
    method: 'GET',
    path: '/v2/authenticated-user',
    query: users.providerQuery,
    summary: 'The user that the token speaks for.',
    tag: 'users',
    response: users.UserAnswer,
    auth: 'user',
  },
  listLedgerUsers: {
    method: 'GET',
    path: '/v2/users',
    summary: 'Users in byte order of their ids.',
    tag: 'users',
    query: users.pageQuery(USERS_PAGE_MAX),
    response: users.UsersAnswer,
    auth: 'admin',
  },
  createLedgerUser: {
    method: 'POST',
    path: '/v2/users',
    summary: 'Makes a user, with rights.',
    query: users.providerQuery,
    tag: 'users',
    body: users.UserCreateRequest,
    response: users.UserAnswer,
    auth: 'admin',
    errorStatuses: [409],
  },
  getLedgerUser: {
    ...known,
    method: 'GET',
    path: '/v2/users/{id}',
    summary: 'A user; everyone may ask about oneself.',
    response: users.UserAnswer,
  },
  updateLedgerUser: {
    ...administered,
    method: 'PATCH',
    path: '/v2/users/{id}',
    summary: 'Changes primary party, deactivation or annotations, as the mask names them.',
    body: users.UserUpdateRequest,
    response: users.UserAnswer,
  },
  deleteLedgerUser: {
    ...administered,
    method: 'DELETE',
    path: '/v2/users/{id}',
    summary: 'Deletes a user with its rights; its parties stay.',
    response: users.EmptyAnswer,
  },
  updateUserProvider: {
    ...administered,
    method: 'PATCH',
    path: '/v2/users/{id}/identity-provider-id',
    summary: 'Moves a user to another identity provider; there is none but the default one.',
    body: users.UserProviderRequest,
    response: users.EmptyAnswer,
  },
  listRights: {
    ...known,
    method: 'GET',
    path: '/v2/users/{id}/rights',
    summary: 'What a user may do; everyone may ask about oneself.',
    response: users.RightsAnswer,
  },
  grantRights: {
    ...administered,
    method: 'POST',
    path: '/v2/users/{id}/rights',
    summary: 'Grants rights; tells those that are new.',
    body: users.RightsRequest,
    response: users.GrantAnswer,
  },
  revokeRights: {
    ...administered,
    method: 'PATCH',
    path: '/v2/users/{id}/rights',
    summary: 'Takes rights away; tells those that were there.',
    body: users.RightsRequest,
    response: users.RevokeAnswer,
  },
  allocateParty: {
    method: 'POST',
    path: '/v2/parties',
    query: users.providerQuery,
    summary: 'Allocates a party on this participant.',
    tag: 'parties',
    body: users.PartyAllocateRequest,
    response: users.PartyAllocateAnswer,
    auth: 'admin',
    errorStatuses: [404],
  },
  listParties: {
    method: 'GET',
    path: '/v2/parties',
    summary: 'Parties of the network in byte order.',
    tag: 'parties',
    query: users.pageQuery(PARTIES_PAGE_MAX),
    response: users.PartiesAnswer,
    auth: 'admin',
  },
  getParticipantId: {
    method: 'GET',
    path: '/v2/parties/participant-id',
    summary: 'The participant behind this interface.',
    tag: 'parties',
    response: users.ParticipantIdAnswer,
    auth: 'user',
  },
  getParty: {
    ...ofParty,
    method: 'GET',
    path: '/v2/parties/{party}',
    summary: 'A party; an empty list for one that is not allocated.',
    response: users.PartyAnswer,
  },
  updateParty: {
    ...ofParty,
    method: 'PATCH',
    path: '/v2/parties/{party}',
    summary: 'Changes the annotations of a party of this participant.',
    body: users.PartyUpdateRequest,
    response: users.PartyAllocateAnswer,
    errorStatuses: [404],
  },
  listPackages: {
    method: 'GET',
    path: '/v2/packages',
    summary: 'The ids of the packages that this participant knows.',
    tag: 'packages',
    response: users.PackagesAnswer,
    auth: 'user',
  },
})
