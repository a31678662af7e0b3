/** Users, their rights, and parties (D-28, D-32; docs/upstream.md §L6.2). */
import { type Static, Type } from 'typebox'
import * as m from '../members.ts'
import { PARTY_PATTERN } from '../scalars.ts'
import { emptyOr, SYNCHRONIZER_ID_PATTERN, USER_ID_PATTERN } from './grammar.ts'
import { bool, defaulted, Empty, Int32, list, needed, oneOf, text, wrapped } from './relaxed.ts'

const ANNOTATIONS =
  'Texts by names of the client (`[<DNS name>/]<name>`), at most 16 KiB as JSON. An update adds them to those that exist; an empty text removes one.'
const NO_PROVIDER = 'Empty: there is one identity provider.'
const emptyText = (description: string) => text(description, { maxLength: 0 })

const Metadata = m.component('ObjectMeta', 'Annotations of it.', {
  resourceVersion: m.string('Changes with each change; send it with an update to detect others.'),
  annotations: m.record(ANNOTATIONS, Type.String()),
})

const MetadataInput = m.component('ObjectMetaInput', 'Annotations for it.', {
  resourceVersion: text(
    'In an update the version that was read: 409 if there was another change since. Empty where something is created.',
  ),
  annotations: defaulted(m.record(ANNOTATIONS, Type.String()), {}),
})

const LedgerUser = m.component('User', 'A user of the participant.', {
  id: m.string('The user: the `sub` of its tokens.'),
  primaryParty: m.string('The party that stands for the user; empty for none.'),
  isDeactivated: m.boolean('Whether its tokens are refused.'),
  metadata: Metadata,
  identityProviderId: m.string(NO_PROVIDER),
})
export type LedgerUser = Static<typeof LedgerUser>

const userInput = {
  primaryParty: text('The party that stands for the user; empty for none.', {
    pattern: emptyOr(PARTY_PATTERN),
  }),
  isDeactivated: bool('Whether its tokens are refused.'),
  primaryPartyAuthentication: bool('False: no party signs tokens here.'),
  metadata: Type.Optional(MetadataInput),
  identityProviderId: emptyText(NO_PROVIDER),
}

const NewLedgerUser = m.component('NewUser', 'A user to create.', {
  id: text('The user: the `sub` of its tokens.', { minLength: 1, pattern: USER_ID_PATTERN }),
  ...userInput,
})
export type LedgerUserInput = Static<typeof NewLedgerUser>

const ChangedLedgerUser = m.component(
  'ChangedUser',
  'The members that the mask names are changed.',
  { id: userIdOrEmptyText('The id of the path, if given.'), ...userInput },
)

function userIdOrEmptyText(description: string) {
  return text(description, { pattern: emptyOr(USER_ID_PATTERN) })
}

const OfParty = wrapped(
  Type.Object({ party: text('The party.', { minLength: 1, pattern: PARTY_PATTERN }) }),
)
const WithoutParty = wrapped(Type.Object({}))

export const LedgerRight = m.component('Right', 'A right of a user.', {
  kind: oneOf(
    'CanActAs and CanReadAs for a party, CanReadAsAnyParty, ParticipantAdmin, CanExecuteAsAnyParty; the others are refused.',
    {
      CanActAs: OfParty,
      CanReadAs: OfParty,
      CanReadAsAnyParty: WithoutParty,
      ParticipantAdmin: WithoutParty,
      CanExecuteAs: OfParty,
      CanExecuteAsAnyParty: WithoutParty,
      IdentityProviderAdmin: WithoutParty,
      Empty,
    },
  ),
})
export type LedgerRight = Static<typeof LedgerRight>

export const UserAnswer = m.component('GetUserResponse', 'A user.', { user: LedgerUser })

const nextPageToken = m.string('The token of the next page; empty on the last.')
const rightsOf = (description: string) => m.array(description, LedgerRight)

export const UsersAnswer = m.component('ListUsersResponse', 'A page of users.', {
  users: m.array('In byte order of their ids.', LedgerUser),
  nextPageToken,
})

export const UserCreateRequest = m.component('CreateLedgerUserRequest', 'A user with rights.', {
  user: NewLedgerUser,
  rights: list(LedgerRight, 'Its rights, at most 1000.'),
})

export const RightsRequest = m.component('UserRightsRequest', 'Rights of a user.', {
  userId: userIdOrEmptyText('The id of the path, if given.'),
  identityProviderId: text(NO_PROVIDER),
  rights: list(LedgerRight, 'The rights to grant or revoke.'),
})

export const RightsAnswer = m.component('ListUserRightsResponse', 'Rights of a user.', {
  rights: rightsOf('The rights of the user.'),
})

export const GrantAnswer = m.component('GrantUserRightsResponse', 'The rights that were granted.', {
  newlyGrantedRights: rightsOf('Those that the user did not have.'),
})

export const RevokeAnswer = m.component(
  'RevokeUserRightsResponse',
  'The rights that were revoked.',
  { newlyRevokedRights: rightsOf('Those that the user had.') },
)

/** The members that an update of a user may name. The last three change nothing: they find the user, and its version. */
export const USER_MASK_PATHS: readonly string[] = [
  'primary_party',
  'is_deactivated',
  'metadata',
  'metadata.annotations',
  'metadata.resource_version',
  'id',
  'identity_provider_id',
]
/** As `USER_MASK_PATHS`, of a party. Only annotations change. */
export const PARTY_MASK_PATHS: readonly string[] = [
  'local_metadata',
  'local_metadata.annotations',
  'local_metadata.resource_version',
  'party',
  'is_local',
  'identity_provider_id',
]
const maskPaths = (paths: readonly string[]) =>
  list(
    Type.String({ pattern: `^(${paths.join('|').replaceAll('.', '\\.')})$` }),
    paths.join(', '),
    { minItems: 1 },
  )

export const UserUpdateRequest = m.component('UpdateUserRequest', 'A change of a user.', {
  user: ChangedLedgerUser,
  updateMask: needed(Type.Object({ paths: maskPaths(USER_MASK_PATHS) }), 'The members to change.'),
})

const PartyDetails = m.component('PartyDetails', 'A party.', {
  party: m.string('The party.'),
  isLocal: m.boolean('Whether this participant hosts it.'),
  localMetadata: Metadata,
  identityProviderId: m.string(NO_PROVIDER),
})
export type LedgerPartyDetails = Static<typeof PartyDetails>

export const PartyAllocateRequest = m.component('AllocatePartyRequest', 'A party to allocate.', {
  partyIdHint: text('The start of the identifier; random if empty.', {
    pattern: '^[A-Za-z0-9_-]{0,185}$',
  }),
  localMetadata: Type.Optional(MetadataInput),
  identityProviderId: emptyText(NO_PROVIDER),
  synchronizerId: text('The one synchronizer, if given.', {
    pattern: emptyOr(SYNCHRONIZER_ID_PATTERN),
  }),
  userId: userIdOrEmptyText('The user that may act as it.'),
})

export const PartyAllocateAnswer = m.component('AllocatePartyResponse', 'The new party.', {
  partyDetails: PartyDetails,
})

const partiesOf = (description: string) => m.array(description, PartyDetails)

export const PartiesAnswer = m.component('ListKnownPartiesResponse', 'A page of parties.', {
  partyDetails: partiesOf('In byte order.'),
  nextPageToken,
})

export const PartyAnswer = m.component('GetPartiesResponse', 'A party.', {
  partyDetails: partiesOf('The party, or none.'),
})

export const ParticipantIdAnswer = m.component('GetParticipantIdResponse', 'This participant.', {
  participantId: m.string('The participant.'),
})

export const UserProviderRequest = m.component(
  'UpdateUserIdentityProviderIdRequest',
  'A change of provider.',
  {
    userId: userIdOrEmptyText('The id of the path, if given.'),
    sourceIdentityProviderId: text(NO_PROVIDER),
    targetIdentityProviderId: text(NO_PROVIDER),
  },
)

export const PartyUpdateRequest = m.component('UpdatePartyDetailsRequest', 'A change of a party.', {
  partyDetails: Type.Optional(
    m.part('The members that the mask names are changed.', {
      party: text('The party of the path, if given.'),
      isLocal: bool('True, if the mask names it.'),
      localMetadata: Type.Optional(MetadataInput),
      identityProviderId: text(NO_PROVIDER),
    }),
  ),
  updateMask: Type.Optional(
    m.part('The members to change.', { paths: maskPaths(PARTY_MASK_PATHS) }),
  ),
})

export const EmptyAnswer = m.component('EmptyResponse', 'Empty response.', {})

/** Only the default provider exists; its id is empty (D-32). */
export const providerQuery = Type.Object({
  'identity-provider-id': Type.Optional(m.about(Type.String(), NO_PROVIDER, { maxLength: 0 })),
})

/** Without it the largest page. */
export const pageQuery = (sizeMax: number) =>
  Type.Object({
    ...providerQuery.properties,
    pageSize: Type.Optional(
      m.bounded(Int32, 'At most; 0: the largest page.', { minimum: 0, maximum: sizeMax }),
    ),
    pageToken: m.omittable(Type.String(), '`nextPageToken` of the page before, or empty.'),
  })

export const partyQuery = Type.Object({
  ...providerQuery.properties,
  parties: list(Type.String(), 'Further parties.'),
})

export const partiesQuery = (sizeMax: number) =>
  Type.Object({
    ...pageQuery(sizeMax).properties,
    'filter-party': m.omittable(Type.String(), 'The start of the identifiers of the parties.'),
  })
