/** Users, what they may do, and parties (D-28, D-32; docs/upstream.md §L6.2). */
import { type Static, Type } from 'typebox'
import { about, component, extended, part } from '../members.ts'
import { PARTY_PATTERN } from '../scalars.ts'
import { emptyOr, SYNCHRONIZER_ID_PATTERN, USER_ID_PATTERN } from './grammar.ts'
import { bool, defaulted, Empty, Int32, list, needed, oneOf, text, wrapped } from './relaxed.ts'

const ANNOTATIONS = 'Texts by names of your own, at most 16 KiB as JSON.'
const NO_PROVIDER = 'Empty: there is one identity provider.'
const emptyText = (description: string) => text(description, { maxLength: 0 })

const Metadata = component('ObjectMeta', 'What is noted beside it.', {
  resourceVersion: Type.String({ description: 'Always empty.' }),
  annotations: Type.Record(Type.String(), Type.String(), { description: ANNOTATIONS }),
})

const MetadataInput = component('ObjectMetaInput', 'What to note beside it.', {
  resourceVersion: text('Without effect.'),
  annotations: defaulted(
    Type.Record(Type.String(), Type.String(), { description: ANNOTATIONS }),
    {},
  ),
})

const LedgerUser = component('User', 'A user of the participant.', {
  id: Type.String({ description: 'The user: the `sub` of its tokens.' }),
  primaryParty: Type.String({
    description: 'The party that stands for the user; empty for none.',
  }),
  isDeactivated: Type.Boolean({ description: 'Whether its tokens are refused.' }),
  metadata: Metadata,
  identityProviderId: Type.String({ description: NO_PROVIDER }),
})
export type LedgerUser = Static<typeof LedgerUser>

const userInput = {
  primaryParty: text('The party that stands for the user; empty for none.', {
    pattern: emptyOr(PARTY_PATTERN),
  }),
  isDeactivated: bool('Whether its tokens are refused.'),
  metadata: Type.Optional(MetadataInput),
  identityProviderId: emptyText(NO_PROVIDER),
}

const NewLedgerUser = component('NewUser', 'A user to be made.', {
  id: text('The user: the `sub` of its tokens.', { minLength: 1, pattern: USER_ID_PATTERN }),
  ...userInput,
})
export type LedgerUserInput = Static<typeof NewLedgerUser>

const ChangedLedgerUser = component('ChangedUser', 'What the mask names of it is changed.', {
  id: userIdOrEmptyText('The id of the path, if given.'),
  ...userInput,
})

function userIdOrEmptyText(description: string) {
  return text(description, { pattern: emptyOr(USER_ID_PATTERN) })
}

const OfParty = wrapped(
  Type.Object({
    party: text('The party.', { minLength: 1, pattern: PARTY_PATTERN }),
  }),
)
const OfNobody = wrapped(Type.Object({}))

export const LedgerRight = component('Right', 'Something that a user may do.', {
  kind: oneOf(
    {
      CanActAs: OfParty,
      CanReadAs: OfParty,
      CanReadAsAnyParty: OfNobody,
      ParticipantAdmin: OfNobody,
      CanExecuteAs: OfParty,
      CanExecuteAsAnyParty: OfNobody,
      IdentityProviderAdmin: OfNobody,
      Empty,
    },
    {
      description:
        'CanActAs and CanReadAs for a party, CanReadAsAnyParty, ParticipantAdmin, CanExecuteAsAnyParty; the others are refused.',
    },
  ),
})
export type LedgerRight = Static<typeof LedgerRight>

export const UserAnswer = component('GetUserResponse', 'A user.', { user: LedgerUser })

const nextPageToken = Type.String({ description: 'Asks for the next page; empty on the last.' })
const rightsOf = (description: string) => Type.Array(LedgerRight, { description })

export const UsersAnswer = component('ListUsersResponse', 'A page of users.', {
  users: Type.Array(LedgerUser, { description: 'In byte order of their ids.' }),
  nextPageToken,
})

export const UserCreateRequest = component('CreateLedgerUserRequest', 'A user with rights.', {
  user: NewLedgerUser,
  rights: list(LedgerRight, 'What it may do, at most 1000.'),
})

/** Of `rights`: what is granted or revoked. */
export const RightsRequest = component('UserRightsRequest', 'Rights of a user.', {
  userId: userIdOrEmptyText('The id of the path, if given.'),
  identityProviderId: text(NO_PROVIDER),
  rights: list(LedgerRight, 'What is granted or taken away.'),
})

export const RightsAnswer = component('ListUserRightsResponse', 'Rights of a user.', {
  rights: rightsOf('What the user may do.'),
})

export const GrantAnswer = component('GrantUserRightsResponse', 'What was granted.', {
  newlyGrantedRights: rightsOf('Those that it did not have.'),
})

export const RevokeAnswer = component('RevokeUserRightsResponse', 'What was taken away.', {
  newlyRevokedRights: rightsOf('Those that it had.'),
})

const MASK_PATHS = ['primary_party', 'is_deactivated', 'metadata.annotations', 'metadata']

export const UserUpdateRequest = component('UpdateUserRequest', 'A change of a user.', {
  user: ChangedLedgerUser,
  updateMask: needed(
    Type.Object({
      paths: list(Type.String({ pattern: `^(${MASK_PATHS.join('|')})$` }), MASK_PATHS.join(', '), {
        minItems: 1,
      }),
    }),
    'Names what is changed.',
  ),
})

const PartyDetails = component('PartyDetails', 'A party.', {
  party: Type.String({ description: 'The party.' }),
  isLocal: Type.Boolean({ description: 'Whether this participant hosts it.' }),
  localMetadata: Metadata,
  identityProviderId: Type.String({ description: NO_PROVIDER }),
})
export type LedgerPartyDetails = Static<typeof PartyDetails>

export const PartyAllocateRequest = component('AllocatePartyRequest', 'A party to be made.', {
  partyIdHint: text('What the identifier begins with; drawn if empty.', {
    pattern: '^[A-Za-z0-9_-]{0,185}$',
  }),
  localMetadata: Type.Optional(MetadataInput),
  identityProviderId: emptyText(NO_PROVIDER),
  synchronizerId: text('The one synchronizer, if given.', {
    pattern: emptyOr(SYNCHRONIZER_ID_PATTERN),
  }),
  userId: userIdOrEmptyText('Who may act as it.'),
})

export const PartyAllocateAnswer = component('AllocatePartyResponse', 'The party that was made.', {
  partyDetails: PartyDetails,
})

const partiesOf = (description: string) => Type.Array(PartyDetails, { description })

export const PartiesAnswer = component('ListKnownPartiesResponse', 'A page of parties.', {
  partyDetails: partiesOf('In byte order.'),
  nextPageToken,
})

export const PartyAnswer = component('GetPartiesResponse', 'A party.', {
  partyDetails: partiesOf('The party, or none.'),
})

export const ParticipantIdAnswer = component('GetParticipantIdResponse', 'Who this is.', {
  participantId: Type.String({ description: 'The participant.' }),
})

export const UserProviderRequest = component(
  'UpdateUserIdentityProviderIdRequest',
  'From which provider to which.',
  {
    userId: userIdOrEmptyText('The id of the path, if given.'),
    sourceIdentityProviderId: text(NO_PROVIDER),
    targetIdentityProviderId: text(NO_PROVIDER),
  },
)

export const PartyUpdateRequest = component('UpdatePartyDetailsRequest', 'A change of a party.', {
  partyDetails: Type.Optional(
    part('What the mask names of it is changed.', {
      party: text('The party of the path, if given.'),
      localMetadata: Type.Optional(MetadataInput),
      identityProviderId: text(NO_PROVIDER),
    }),
  ),
  updateMask: Type.Optional(
    part('Names what is changed.', { paths: list(Type.String(), 'Paths of members.') }),
  ),
})

export const PackagesAnswer = component('ListPackagesResponse', 'The packages there are.', {
  packageIds: Type.Array(Type.String(), { description: 'Hashes of their definitions, in hex.' }),
})

export const EmptyAnswer = component('EmptyResponse', 'It was done.', {})

/** There is none but the default one, whose id is empty (D-32). */
export const providerQuery = Type.Object({
  'identity-provider-id': Type.Optional(about(Type.String(), NO_PROVIDER, { maxLength: 0 })),
})

/** Without it the largest page. */
export const pageQuery = (sizeMax: number) =>
  Type.Object({
    ...providerQuery.properties,
    pageSize: Type.Optional(
      extended(Int32, {
        minimum: 0,
        maximum: sizeMax,
        description: 'Elements at most; 0 is the largest page.',
      }),
    ),
    pageToken: Type.Optional(
      about(Type.String(), '`nextPageToken` of the page before; empty for the first.'),
    ),
  })
