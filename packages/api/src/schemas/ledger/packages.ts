/** Packages, and which of them are in force (docs/upstream.md §L5.2). */
import { Type } from 'typebox'
import * as m from '../members.ts'
import { LedgerParty, PACKAGE_ID_PATTERN, SUBMITTERS_MAX, synchronizerIdOrNone } from './grammar.ts'
import { Int32, list, Timestamp, text } from './relaxed.ts'

/** Vetted packages of a page, which `/v2/version` also reports. */
export const VETTED_PAGE_MAX = 100
/** Names of packages of one request. */
export const PACKAGE_NAMES_MAX = 100

export const packageParams = Type.Object({
  packageId: m.formed(PACKAGE_ID_PATTERN, 'The id of the package.'),
})

export const PackagesAnswer = m.component('ListPackagesResponse', 'The known packages.', {
  packageIds: m.array('Hashes of their definitions, in hex.', Type.String()),
})

const STATUSES = ['PACKAGE_STATUS_UNSPECIFIED', 'PACKAGE_STATUS_REGISTERED'] as const

export const PackageStatusAnswer = m.component('GetPackageStatusResponse', 'The package.', {
  packageStatus: Type.Enum(STATUSES, { description: 'UNSPECIFIED: the package is not known.' }),
})

export const VettedPackagesRequest = m.component(
  'ListVettedPackagesRequest',
  'Which packages to show.',
  {
    packageMetadataFilter: Type.Optional(
      m.part('A package is shown if it has one of the ids or prefixes; absent or empty: all.', {
        packageIds: list(Type.String(), 'Ids of packages.'),
        packageNamePrefixes: list(Type.String(), 'Beginnings of names.'),
      }),
    ),
    topologyStateFilter: Type.Optional(
      m.part('Where packages are in force; empty: anywhere.', {
        participantIds: list(
          Type.String(),
          'Participants. Others than this one have none to show.',
        ),
        synchronizerIds: list(Type.String(), 'Synchronizers.'),
      }),
    ),
    pageToken: text('Empty: there is one page.', { maxLength: 0 }),
    pageSize: Type.Optional(
      m.bounded(Int32, 'Elements at most; 0 or absent: as many as there are.', {
        minimum: 0,
        maximum: VETTED_PAGE_MAX,
      }),
    ),
  },
)

const packageName = m.string('Its name.')
const packageVersion = m.string('The version of the protocol that brought it, as `<version>.0.0`.')
const synchronizerId = m.string('The one synchronizer.')

export const VettedPackagesAnswer = m.component(
  'ListVettedPackagesResponse',
  'Packages in force.',
  {
    vettedPackages: m.rows('One element, or none if no package matches.', {
      packages: m.rows('By name and version.', {
        packageId: m.string('Its id.'),
        validFromInclusive: m.nullableText('Always null.'),
        validUntilExclusive: m.nullableText('Always null.'),
        packageName,
        packageVersion,
      }),
      participantId: m.string('This participant.'),
      synchronizerId,
      topologySerial: m.about(Int32, 'The version of the protocol in force.'),
    }),
    nextPageToken: m.string('Always empty.'),
  },
)

const PackageReference = m.component('PackageReference', 'A package.', {
  packageId: m.string('Its id.'),
  packageName,
  packageVersion,
})

const vettingTime = m.about(Timestamp, 'Checked, and without effect.')

export const PreferredPackageQuery = Type.Object({
  parties: Type.Optional(
    m.array('Parties that must be known to the ledger.', LedgerParty, { maxItems: SUBMITTERS_MAX }),
  ),
  'package-name': Type.Optional(m.string('The name of the package; required.')),
  vetting_valid_at: Type.Optional(vettingTime),
  'synchronizer-id': synchronizerIdOrNone('The one synchronizer.'),
})

export const PreferredPackageAnswer = m.component(
  'GetPreferredPackageVersionResponse',
  'The package to use.',
  {
    packagePreference: m.orNull(
      m.part('The newest package of the name that is in force.', {
        packageReference: PackageReference,
        synchronizerId,
      }),
      'Null: there is none.',
    ),
  },
)

export const PreferredPackagesRequest = m.component(
  'GetPreferredPackagesRequest',
  'Names of packages.',
  {
    packageVettingRequirements: list(
      m.component('PackageVettingRequirement', 'A package by name, and who uses it.', {
        parties: list(LedgerParty, 'Parties that must be known to the ledger.', { minItems: 1 }),
        packageName: text('The name of the package.', { minLength: 1 }),
      }),
      `Each name once. Together at most ${SUBMITTERS_MAX} parties.`,
      { minItems: 1, maxItems: PACKAGE_NAMES_MAX },
    ),
    synchronizerId: synchronizerIdOrNone('The one synchronizer.'),
    vettingValidAt: m.omittable(vettingTime, 'Checked, and without effect.'),
  },
)

export const PreferredPackagesAnswer = m.component(
  'GetPreferredPackagesResponse',
  'The packages to use.',
  {
    packageReferences: m.array('One for each name.', PackageReference),
    synchronizerId,
  },
)

const IdentityProvider = m.component('IdentityProviderConfig', 'The issuer of the tokens.', {
  identityProviderId: m.string('Always `default`, which requests may also leave out.'),
  isDeactivated: m.boolean('Always false.'),
  issuer: m.string('Always empty: the keys decide whose tokens are accepted.'),
  jwksUrl: m.string('Where its keys are; empty if tokens are signed with a shared secret.'),
  audience: m.string('The audience that tokens must have.'),
})

export const idpParams = Type.Object({
  idpId: m.string('`default`.'),
})

export const IdpsAnswer = m.component('ListIdentityProviderConfigsResponse', 'The issuers.', {
  identityProviderConfigs: m.array('The one issuer.', IdentityProvider),
})

export const IdpAnswer = m.component('GetIdentityProviderConfigResponse', 'An issuer.', {
  identityProviderConfig: IdentityProvider,
})
