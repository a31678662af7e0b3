/** Users, what they may do, and parties (D-28, D-32; docs/upstream.md §L6.2). */
import { type Static, Type } from 'typebox'
import { about, extended } from '../members.ts'
import { PARTY_PATTERN } from '../scalars.ts'
import { emptyOr, SYNCHRONIZER_ID_PATTERN, USER_ID_PATTERN } from './grammar.ts'
import { bool, defaulted, Empty, Int32, list, needed, oneOf, text, wrapped } from './relaxed.ts'

const ANNOTATIONS = 'Texts by names of your own, at most 16 KiB as JSON.'
const NO_PROVIDER = 'Empty: there is one identity provider.'
const emptyText = (description: string) => text(description, { maxLength: 0 })

const Metadata = Type.Object(
  {
    resourceVersion: Type.String({ description: 'Always empty.' }),
    annotations: Type.Record(Type.String(), Type.String(), { description: ANNOTATIONS }),
  },
  { title: 'ObjectMeta', description: 'What is noted beside it.' },
)

const MetadataInput = Type.Object(
  {
    resourceVersion: text('Without effect.'),
    annotations: defaulted(
      Type.Record(Type.String(), Type.String(), { description: ANNOTATIONS }),
      {},
    ),
  },
  { title: 'ObjectMetaInput', description: 'What to note beside it.' },
)

const LedgerUser = Type.Object(
  {
    id: Type.String({ description: 'The user: the `sub` of its tokens.' }),
    primaryParty: Type.String({
      description: 'The party that stands for the user; empty for none.',
    }),
    isDeactivated: Type.Boolean({ description: 'Whether its tokens are refused.' }),
    metadata: Metadata,
    identityProviderId: Type.String({ description: NO_PROVIDER }),
  },
  { title: 'User', description: 'A user of the participant.' },
)
export type LedgerUser = Static<typeof LedgerUser>

const userInput = {
  primaryParty: text('The party that stands for the user; empty for none.', {
    pattern: emptyOr(PARTY_PATTERN),
  }),
  isDeactivated: bool('Whether its tokens are refused.'),
  metadata: Type.Optional(MetadataInput),
  identityProviderId: emptyText(NO_PROVIDER),
}

const NewLedgerUser = Type.Object(
  {
    id: text('The user: the `sub` of its tokens.', { minLength: 1, pattern: USER_ID_PATTERN }),
    ...userInput,
  },
  { title: 'NewUser', description: 'A user to be made.' },
)
export type LedgerUserInput = Static<typeof NewLedgerUser>

const ChangedLedgerUser = Type.Object(
  { id: userIdOrEmptyText('The id of the path, if given.'), ...userInput },
  { title: 'ChangedUser', description: 'What the mask names of it is changed.' },
)

function userIdOrEmptyText(description: string) {
  return text(description, { pattern: emptyOr(USER_ID_PATTERN) })
}

const OfParty = wrapped(
  Type.Object({
    party: text('The party.', { minLength: 1, pattern: PARTY_PATTERN }),
  }),
)
const OfNobody = wrapped(Type.Object({}))

export const LedgerRight = Type.Object(
  {
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
  },
  { title: 'Right', description: 'Something that a user may do.' },
)
export type LedgerRight = Static<typeof LedgerRight>

export const UserAnswer = Type.Object(
  { user: LedgerUser },
  { title: 'GetUserResponse', description: 'A user.' },
)

const nextPageToken = Type.String({ description: 'Asks for the next page; empty on the last.' })
const rightsOf = (description: string) => Type.Array(LedgerRight, { description })

export const UsersAnswer = Type.Object(
  { users: Type.Array(LedgerUser, { description: 'In byte order of their ids.' }), nextPageToken },
  { title: 'ListUsersResponse', description: 'A page of users.' },
)

export const UserCreateRequest = Type.Object(
  { user: NewLedgerUser, rights: list(LedgerRight, 'What it may do, at most 1000.') },
  { title: 'CreateLedgerUserRequest', description: 'A user with rights.' },
)

/** Of `rights`: what is granted or revoked. */
export const RightsRequest = Type.Object(
  {
    userId: userIdOrEmptyText('The id of the path, if given.'),
    identityProviderId: text(NO_PROVIDER),
    rights: list(LedgerRight, 'What is granted or taken away.'),
  },
  { title: 'UserRightsRequest', description: 'Rights of a user.' },
)

export const RightsAnswer = Type.Object(
  { rights: rightsOf('What the user may do.') },
  { title: 'ListUserRightsResponse', description: 'Rights of a user.' },
)

export const GrantAnswer = Type.Object(
  { newlyGrantedRights: rightsOf('Those that it did not have.') },
  { title: 'GrantUserRightsResponse', description: 'What was granted.' },
)

export const RevokeAnswer = Type.Object(
  { newlyRevokedRights: rightsOf('Those that it had.') },
  { title: 'RevokeUserRightsResponse', description: 'What was taken away.' },
)

const MASK_PATHS = ['primary_party', 'is_deactivated', 'metadata.annotations', 'metadata']

export const UserUpdateRequest = Type.Object(
  {
    user: ChangedLedgerUser,
    updateMask: needed(
      Type.Object({
        paths: list(
          Type.String({ pattern: `^(${MASK_PATHS.join('|')})$` }),
          MASK_PATHS.join(', '),
          {
            minItems: 1,
          },
        ),
      }),
      'Names what is changed.',
    ),
  },
  { title: 'UpdateUserRequest', description: 'A change of a user.' },
)

const PartyDetails = Type.Object(
  {
    party: Type.String({ description: 'The party.' }),
    isLocal: Type.Boolean({ description: 'Whether this participant hosts it.' }),
    localMetadata: Metadata,
    identityProviderId: Type.String({ description: NO_PROVIDER }),
  },
  { title: 'PartyDetails', description: 'A party.' },
)
export type LedgerPartyDetails = Static<typeof PartyDetails>

export const PartyAllocateRequest = Type.Object(
  {
    partyIdHint: text('What the identifier begins with; drawn if empty.', {
      pattern: '^[A-Za-z0-9_-]{0,185}$',
    }),
    localMetadata: Type.Optional(MetadataInput),
    identityProviderId: emptyText(NO_PROVIDER),
    synchronizerId: text('The one synchronizer, if given.', {
      pattern: emptyOr(SYNCHRONIZER_ID_PATTERN),
    }),
    userId: userIdOrEmptyText('Who may act as it.'),
  },
  { title: 'AllocatePartyRequest', description: 'A party to be made.' },
)

export const PartyAllocateAnswer = Type.Object(
  { partyDetails: PartyDetails },
  { title: 'AllocatePartyResponse', description: 'The party that was made.' },
)

const partiesOf = (description: string) => Type.Array(PartyDetails, { description })

export const PartiesAnswer = Type.Object(
  { partyDetails: partiesOf('In byte order.'), nextPageToken },
  { title: 'ListKnownPartiesResponse', description: 'A page of parties.' },
)

export const PartyAnswer = Type.Object(
  { partyDetails: partiesOf('The party, or none.') },
  { title: 'GetPartiesResponse', description: 'A party.' },
)

export const ParticipantIdAnswer = Type.Object(
  { participantId: Type.String({ description: 'The participant.' }) },
  { title: 'GetParticipantIdResponse', description: 'Who this is.' },
)

export const UserProviderRequest = Type.Object(
  {
    userId: userIdOrEmptyText('The id of the path, if given.'),
    sourceIdentityProviderId: text(NO_PROVIDER),
    targetIdentityProviderId: text(NO_PROVIDER),
  },
  { title: 'UpdateUserIdentityProviderIdRequest', description: 'From which provider to which.' },
)

export const PartyUpdateRequest = Type.Object(
  {
    partyDetails: Type.Optional(
      Type.Object(
        {
          party: text('The party of the path, if given.'),
          localMetadata: Type.Optional(MetadataInput),
          identityProviderId: text(NO_PROVIDER),
        },
        { description: 'What the mask names of it is changed.' },
      ),
    ),
    updateMask: Type.Optional(
      Type.Object(
        { paths: list(Type.String(), 'Paths of members.') },
        { description: 'Names what is changed.' },
      ),
    ),
  },
  { title: 'UpdatePartyDetailsRequest', description: 'A change of a party.' },
)

export const PackagesAnswer = Type.Object(
  {
    packageIds: Type.Array(Type.String(), { description: 'Hashes of their definitions, in hex.' }),
  },
  { title: 'ListPackagesResponse', description: 'The packages there are.' },
)

export const EmptyAnswer = Type.Object({}, { title: 'EmptyResponse', description: 'It was done.' })

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
