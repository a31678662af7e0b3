/** Users, what they may do, and parties (D-28, D-32; docs/upstream.md §L6.2). */
import { type Static, Type } from 'typebox'
import { bool, defaulted, Empty, Int32, list, oneOf, text, wrapped } from './relaxed.ts'

const Metadata = Type.Object(
  {
    resourceVersion: text(),
    annotations: defaulted(Type.Record(Type.String(), Type.String()), {}),
  },
  { title: 'ObjectMeta' },
)

export const LedgerUser = Type.Object(
  {
    id: text(),
    primaryParty: text(),
    isDeactivated: bool(),
    metadata: Type.Optional(Metadata),
    identityProviderId: text(),
  },
  { title: 'User' },
)
export type LedgerUser = Static<typeof LedgerUser>

const OfParty = wrapped(Type.Object({ party: text() }))
const OfNobody = wrapped(Type.Object({}))

export const LedgerRight = Type.Object(
  {
    kind: oneOf({
      CanActAs: OfParty,
      CanReadAs: OfParty,
      CanReadAsAnyParty: OfNobody,
      ParticipantAdmin: OfNobody,
      CanExecuteAs: OfParty,
      CanExecuteAsAnyParty: OfNobody,
      IdentityProviderAdmin: OfNobody,
      Empty,
    }),
  },
  { title: 'Right' },
)
export type LedgerRight = Static<typeof LedgerRight>

export const UserAnswer = Type.Object({ user: LedgerUser }, { title: 'GetUserResponse' })

export const UsersAnswer = Type.Object(
  { users: Type.Array(LedgerUser), nextPageToken: Type.String() },
  { title: 'ListUsersResponse' },
)

export const UserCreateRequest = Type.Object(
  { user: LedgerUser, rights: list(LedgerRight) },
  { title: 'CreateLedgerUserRequest' },
)

/** Of `rights`: what is granted or revoked. */
export const RightsRequest = Type.Object(
  { userId: text(), identityProviderId: text(), rights: list(LedgerRight) },
  { title: 'UserRightsRequest' },
)

export const RightsAnswer = Type.Object(
  { rights: Type.Array(LedgerRight) },
  { title: 'ListUserRightsResponse' },
)

export const GrantAnswer = Type.Object(
  { newlyGrantedRights: Type.Array(LedgerRight) },
  { title: 'GrantUserRightsResponse' },
)

export const RevokeAnswer = Type.Object(
  { newlyRevokedRights: Type.Array(LedgerRight) },
  { title: 'RevokeUserRightsResponse' },
)

export const UserUpdateRequest = Type.Object(
  {
    user: LedgerUser,
    updateMask: Type.Optional(Type.Object({ paths: list(Type.String()) })),
  },
  { title: 'UpdateUserRequest' },
)

const PartyDetails = Type.Object(
  {
    party: Type.String(),
    isLocal: Type.Boolean(),
    localMetadata: Metadata,
    identityProviderId: Type.String(),
  },
  { title: 'PartyDetails' },
)
export type LedgerPartyDetails = Static<typeof PartyDetails>

export const PartyAllocateRequest = Type.Object(
  {
    partyIdHint: text(),
    localMetadata: Type.Optional(Metadata),
    identityProviderId: text(),
    synchronizerId: text(),
    userId: text(),
  },
  { title: 'AllocatePartyRequest' },
)

export const PartyAllocateAnswer = Type.Object(
  { partyDetails: PartyDetails },
  { title: 'AllocatePartyResponse' },
)

export const PartiesAnswer = Type.Object(
  { partyDetails: Type.Array(PartyDetails), nextPageToken: Type.String() },
  { title: 'ListKnownPartiesResponse' },
)

export const PartyAnswer = Type.Object(
  { partyDetails: Type.Array(PartyDetails) },
  { title: 'GetPartiesResponse' },
)

export const ParticipantIdAnswer = Type.Object(
  { participantId: Type.String() },
  { title: 'GetParticipantIdResponse' },
)

export const UserProviderRequest = Type.Object(
  { userId: text(), sourceIdentityProviderId: text(), targetIdentityProviderId: text() },
  { title: 'UpdateUserIdentityProviderIdRequest' },
)

export const PartyUpdateRequest = Type.Object(
  {
    partyDetails: Type.Optional(
      Type.Object({
        party: text(),
        localMetadata: Type.Optional(Metadata),
        identityProviderId: text(),
      }),
    ),
    updateMask: Type.Optional(Type.Object({ paths: list(Type.String()) })),
  },
  { title: 'UpdatePartyDetailsRequest' },
)

export const PackagesAnswer = Type.Object(
  { packageIds: Type.Array(Type.String()) },
  { title: 'ListPackagesResponse' },
)

export const EmptyAnswer = Type.Object({})

/** There is none but the default one, whose id is empty (D-32). */
export const providerQuery = Type.Object({ 'identity-provider-id': Type.Optional(Type.String()) })

/** Without it the largest page. */
export const pageQuery = Type.Object({
  ...providerQuery.properties,
  pageSize: Type.Optional(Int32),
  pageToken: Type.Optional(Type.String()),
})
