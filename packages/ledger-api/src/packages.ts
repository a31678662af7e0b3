/** Packages: the definitions of templates (D-31), and which of them are in force (docs/upstream.md §L5.2). */
import { PACKAGE_NAMES_MAX, SUBMITTERS_MAX, VETTED_PAGE_MAX } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import { isZonedTime, type PackageInfo, packages, readProtocol } from '@quorumscan/ledger'
import { isPartyId, type PartyId } from '@quorumscan/model'
import {
  invalidArgument,
  invalidField,
  isPackageId,
  isPackageName,
  isPartyString,
  missingField,
  optionalSynchronizerId,
  quoted,
} from './commands/grammar.ts'
import type { LedgerApiDeps } from './dependencies.ts'
import type { LedgerHandlersOf } from './http/handler.ts'

type Handlers = LedgerHandlersOf<'packages'>

export function packageHandlers(
  context: Pick<LedgerApiDeps, 'ledger' | 'genesis' | 'participantId'>,
): Handlers {
  const { ledger, genesis, participantId } = context
  const { synchronizerId } = genesis

  const areKnown = async (parties: readonly PartyId[]): Promise<boolean> => {
    const isKnown = async (party: PartyId) =>
      isPartyId(party) && (await ledger.isPartyAllocated(party))
    return (await Promise.all(parties.map(isKnown))).every(Boolean)
  }

  const listVetted: Handlers['listVettedPackages'] = async ({ body }) => {
    const { pageToken, pageSize = 0 } = body
    if (pageToken !== '') throw invalidArgument('page_token was not issued by this participant')
    if (pageSize < 0 || pageSize > VETTED_PAGE_MAX)
      throw invalidArgument(`page_size lies between 0 and ${VETTED_PAGE_MAX}`)
    const { participantIds = [], synchronizerIds = [] } = body.topologyStateFilter ?? {}
    const { version } = await readProtocol(ledger)
    const isHere =
      matchesOne(participantIds, participantId) && matchesOne(synchronizerIds, synchronizerId)
    const found = isHere ? inForce(version).filter(packageFilter(body.packageMetadataFilter)) : []
    const vetted = {
      packages: found.map((one) => ({
        ...referenceOf(one),
        validFromInclusive: null,
        validUntilExclusive: null,
      })),
      participantId,
      synchronizerId,
      topologySerial: version,
    }
    return { vettedPackages: found.length === 0 ? [] : [vetted], nextPageToken: '' }
  }

  return {
    listPackages: async () => ({ packageIds: packages.map(({ id }) => id) }),
    async getPackage({ params: { packageId } }) {
      checkPackageId(packageId)
      const found = packages.find(({ id }) => id === packageId)
      if (found === undefined)
        throw new LedgerError(
          'PACKAGE_NOT_FOUND',
          `The package ${quoted(packageId)} is not known.`,
          {
            resources: [['PACKAGE', packageId]],
          },
        )
      return utf8(found.content)
    },
    async getPackageStatus({ params: { packageId } }) {
      checkPackageId(packageId)
      const isKnown = packages.some(({ id }) => id === packageId)
      return {
        packageStatus: isKnown ? 'PACKAGE_STATUS_REGISTERED' : 'PACKAGE_STATUS_UNSPECIFIED',
      }
    },
    getVettedPackages: listVetted,
    listVettedPackages: listVetted,
    async getPreferredPackageVersion({ query }) {
      const { parties = [], 'package-name': name = '', vetting_valid_at: time } = query
      checkName(name, 'package-name')
      checkParties(parties)
      checkTime(time, 'query parameter vetting_valid_at')
      const place = optionalSynchronizerId(query['synchronizer-id'] ?? '', 'synchronizer-id')
      const { version } = await readProtocol(ledger)
      const found = newestOf(name, version)
      if (found === undefined || !isOurs(place, synchronizerId) || !(await areKnown(parties)))
        return { packagePreference: null }
      return { packagePreference: { packageReference: referenceOf(found), synchronizerId } }
    },
    async getPreferredPackages({ body }) {
      const { packageVettingRequirements: requirements } = body
      if (requirements.length === 0) throw missingField('package_vetting_requirements')
      if (requirements.length > PACKAGE_NAMES_MAX)
        throw invalidArgument(`at most ${PACKAGE_NAMES_MAX} packages are read at once`)
      for (const { packageName, parties } of requirements) {
        checkName(packageName, 'package_name')
        if (parties.length === 0) throw missingField('parties')
      }
      const names = requirements.map(({ packageName }) => packageName)
      if (new Set(names).size < names.length)
        throw invalidArgument('package_vetting_requirements has a name twice')
      const parties = [...new Set(requirements.flatMap((one) => one.parties))]
      checkParties(parties)
      checkTime(body.vettingValidAt, 'body.vettingValidAt')
      const place = optionalSynchronizerId(body.synchronizerId ?? '', 'synchronizer_id')
      const { version } = await readProtocol(ledger)
      const found = names.flatMap((name) => newestOf(name, version) ?? [])
      const isComplete = found.length === names.length && isOurs(place, synchronizerId)
      if (!isComplete || !(await areKnown(parties)))
        throw new LedgerError(
          'NO_PREFERRED_PACKAGES_FOUND',
          'No packages satisfy the requirements: a name, a party or the synchronizer is not known.',
        )
      return { packageReferences: found.map(referenceOf), synchronizerId }
    },
  }
}

function inForce(version: number): readonly PackageInfo[] {
  return packages
    .filter(({ since }) => since <= version)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.since - b.since))
}

function newestOf(name: string, version: number): PackageInfo | undefined {
  return inForce(version).findLast((one) => one.name === name)
}

/** The version is that of the protocol that brought the package. */
function referenceOf({ id, name, since }: PackageInfo) {
  return { packageId: id, packageName: name, packageVersion: `${since}.0.0` }
}

/** An empty list matches everything. */
function matchesOne(wanted: readonly string[], own: string): boolean {
  return wanted.length === 0 || wanted.includes(own)
}

type MetadataFilter = Parameters<Handlers['listVettedPackages']>[0]['body']['packageMetadataFilter']

function packageFilter(filter: MetadataFilter): (found: PackageInfo) => boolean {
  const { packageIds: ids = [], packageNamePrefixes: prefixes = [] } = filter ?? {}
  if (ids.length === 0 && prefixes.length === 0) return () => true
  return ({ id, name }) => ids.includes(id) || prefixes.some((prefix) => name.startsWith(prefix))
}

function isOurs(named: string, own: string): boolean {
  return named === '' || named === own
}

/** @throws {LedgerError} INVALID_FIELD. */
function checkPackageId(id: string): void {
  if (!isPackageId(id)) throw invalidField('package_id', `${quoted(id)} is no package id`)
}

function checkName(name: string, field: string): void {
  if (name === '') throw missingField(field)
  if (!isPackageName(name)) throw invalidArgument(`${field}: ${quoted(name)} is no package name`)
}

function checkParties(parties: readonly string[]): void {
  if (parties.length > SUBMITTERS_MAX)
    throw invalidArgument(`a request names at most ${SUBMITTERS_MAX} parties`)
  for (const party of parties)
    if (!isPartyString(party)) throw invalidArgument(`${quoted(party)} is not a party identifier`)
}

/** Validated and without effect: what is in force is so without end. */
function checkTime(time: string | undefined, place: string): void {
  if (time !== undefined && !isZonedTime(time))
    throw new LedgerDecodeError(`${place}: must be an ISO-8601 instant`)
}
