/** Users and their rights on the ledger interface (D-28, D-32). */
import { type LedgerUser, type LedgerUserInput, USERS_PAGE_MAX } from '@quorumscan/api'
import { isAdmin } from '@quorumscan/auth'
import { LedgerError } from '@quorumscan/errors'
import { isPartyId, isUserId, type Right, type User } from '@quorumscan/model'
import { mergeRights, RIGHTS_PER_USER_MAX, type UserRecord, withoutRights } from '@quorumscan/users'
import { newUser } from '@quorumscan/wallet'
import type { Caller } from '../callers.ts'
import {
  invalidArgument,
  invalidField,
  missingField,
  requiredUserId,
  shown,
} from '../commands/grammar.ts'
import type { LedgerApiDeps } from '../dependencies.ts'
import type { LedgerHandlersOf } from '../handler-types.ts'
import { nextPageToken, readPage } from './paging.ts'
import { readRight, toLedgerRight } from './rights.ts'

/** UTF-8 bytes of all annotations of one user: as upstream's 256 kB, but a record is read at every request. */
const ANNOTATIONS_BYTES_MAX = 16 * 1024

export function ledgerUserHandlers(
  context: LedgerApiDeps,
): LedgerHandlersOf<
  | 'getAuthenticatedUser'
  | 'listLedgerUsers'
  | 'createLedgerUser'
  | 'getLedgerUser'
  | 'updateLedgerUser'
  | 'deleteLedgerUser'
  | 'updateUserProvider'
  | 'listRights'
  | 'grantRights'
  | 'revokeRights'
> {
  const { users } = context.store

  /** Everyone may ask about oneself; about others administrators only. */
  const recordFor = async (caller: Caller, id: string): Promise<UserRecord> => {
    requiredUserId(id, 'user_id')
    if (id !== caller.userId && !isAdmin(caller.rights))
      throw new LedgerError(
        'PERMISSION_DENIED',
        `${caller.userId} asks about the user ${shown(id)}`,
      )
    return (await users.get(id)) ?? unknownUser(id)
  }

  /** Changes the rights of a user; what came of it tells `difference`. */
  const changeRights = async (
    id: string,
    change: (rights: readonly Right[]) => readonly Right[],
  ): Promise<{ readonly before: readonly Right[]; readonly after: readonly Right[] }> => {
    requiredUserId(id, 'user_id')
    let before: readonly Right[] = []
    const updated = await users.update(id, (record) => {
      before = record.rights
      return { ...record, rights: bounded(change(record.rights)) }
    })
    return { before, after: (updated ?? unknownUser(id)).rights }
  }

  return {
    async getAuthenticatedUser(request) {
      const record = await recordFor(request.caller, request.caller.userId)
      return { user: toLedgerUser(record.user) }
    },
    async listLedgerUsers(request) {
      const page = readPage(request.query, { sizeMax: USERS_PAGE_MAX, isToken: isUserId })
      const found = (await users.list(page)).map(({ user }) => user)
      return {
        users: found.map(toLedgerUser),
        nextPageToken: nextPageToken(
          found.map(({ id }) => id),
          page,
        ),
      }
    },
    async createLedgerUser(request) {
      const user = readUser(request.body.user)
      const rights = bounded(mergeRights(request.body.rights.map(readRight)))
      if (!(await users.insert({ user, rights })))
        throw new LedgerError('USER_ALREADY_EXISTS', `The user ${user.id} exists already.`, {
          resources: [['USER', user.id]],
        })
      return { user: toLedgerUser(user) }
    },
    async getLedgerUser(request) {
      return { user: toLedgerUser((await recordFor(request.caller, request.params.id)).user) }
    },
    async updateLedgerUser(request) {
      const { id } = request.params
      const { user, updateMask } = request.body
      requiredUserId(id, 'user.id')
      if (user.id !== '' && user.id !== id)
        throw invalidArgument('user.id differs from the id of the path')
      const change = readChange(user, updateMask?.paths ?? [])
      const updated = await users.update(id, (record) => ({
        ...record,
        user: change(record.user),
      }))
      return { user: toLedgerUser((updated ?? unknownUser(id)).user) }
    },
    async deleteLedgerUser(request) {
      const id = requiredUserId(request.params.id, 'user_id')
      // Whoever administers would lock itself out.
      if (id === request.caller.userId) throw invalidArgument('nobody deletes oneself')
      if (!(await users.delete(id))) unknownUser(id)
      return {}
    },
    async updateUserProvider({ params, body }) {
      const id = requiredUserId(params.id, 'user_id')
      checkUserIds(id, body.userId)
      for (const provider of [body.sourceIdentityProviderId, body.targetIdentityProviderId])
        checkProvider(provider)
      if ((await users.get(id)) === null) unknownUser(id)
      return {}
    },
    async listRights(request) {
      const { rights } = await recordFor(request.caller, request.params.id)
      return { rights: rights.map(toLedgerRight) }
    },
    async grantRights(request) {
      const granted = request.body.rights.map(readRight)
      checkUserIds(request.params.id, request.body.userId)
      const { before, after } = await changeRights(request.params.id, (rights) =>
        mergeRights(rights, granted),
      )
      return { newlyGrantedRights: withoutRights(after, before).map(toLedgerRight) }
    },
    async revokeRights(request) {
      const revoked = request.body.rights.map(readRight)
      checkUserIds(request.params.id, request.body.userId)
      const { before, after } = await changeRights(request.params.id, (rights) =>
        withoutRights(rights, revoked),
      )
      return { newlyRevokedRights: withoutRights(before, after).map(toLedgerRight) }
    },
  }
}

function checkUserIds(ofPath: string, ofBody: string): void {
  if (ofBody !== '' && ofBody !== ofPath)
    throw invalidArgument('user_id of the body differs from the id of the path')
}

function unknownUser(id: string): never {
  throw new LedgerError('USER_NOT_FOUND', `There is no user ${id}.`, { resources: [['USER', id]] })
}

function bounded(rights: readonly Right[]): readonly Right[] {
  if (rights.length > RIGHTS_PER_USER_MAX)
    throw new LedgerError(
      'TOO_MANY_USER_RIGHTS',
      `A user has at most ${RIGHTS_PER_USER_MAX} rights.`,
    )
  return rights
}

function toLedgerUser(user: User): LedgerUser {
  return {
    id: user.id,
    primaryParty: user.primaryParty ?? '',
    isDeactivated: user.isDeactivated,
    metadata: { resourceVersion: '', annotations: { ...user.metadata } },
    identityProviderId: user.identityProviderId,
  }
}

function readUser(user: LedgerUserInput): User {
  const id = requiredUserId(user.id, 'user.id')
  checkIdentityProvider(user)
  return {
    ...newUser(id, readPrimaryParty(user)),
    isDeactivated: user.isDeactivated,
    metadata: readAnnotations(user),
  }
}

/** What an update changes; without paths, all that can be changed and was given. */
function readChange(user: LedgerUserInput, paths: readonly string[]): (current: User) => User {
  const all = ['primary_party', 'is_deactivated', 'metadata.annotations']
  if (paths.length === 0) throw missingField('update_mask')
  for (const path of paths)
    if (![...all, 'metadata'].includes(path))
      throw invalidArgument(`update_mask: ${shown(path)} is none of ${all.join(', ')}`)
  checkIdentityProvider(user)
  const primaryParty = readPrimaryParty(user)
  const metadata = readAnnotations(user)
  return (current) => ({
    ...current,
    ...(paths.includes('primary_party') ? { primaryParty } : {}),
    ...(paths.includes('is_deactivated') ? { isDeactivated: user.isDeactivated } : {}),
    ...(paths.some((path) => path.startsWith('metadata')) ? { metadata } : {}),
  })
}

function readPrimaryParty({ primaryParty }: LedgerUserInput): string | null {
  if (primaryParty === '') return null
  if (!isPartyId(primaryParty))
    throw invalidField('user.primary_party', `${shown(primaryParty)} is no party identifier`)
  return primaryParty
}

function readAnnotations({ metadata }: LedgerUserInput): Readonly<Record<string, string>> {
  return checkAnnotations(metadata?.annotations ?? {}, 'user.metadata')
}

/** @throws {LedgerError} INVALID_ARGUMENT if they are too large. */
export function checkAnnotations(
  annotations: Readonly<Record<string, string>>,
  field: string,
): Readonly<Record<string, string>> {
  if (Buffer.byteLength(JSON.stringify(annotations)) > ANNOTATIONS_BYTES_MAX)
    throw invalidArgument(`${field}: annotations take at most ${ANNOTATIONS_BYTES_MAX} bytes`)
  return annotations
}

/** D-32: there is no other one than the default. */
function checkIdentityProvider({ identityProviderId }: LedgerUserInput): void {
  checkProvider(identityProviderId)
}

function checkProvider(id: string): void {
  if (id !== '') throw invalidArgument(`there is no identity provider ${shown(id)}`)
}

type OfProvider = {
  readonly query: { readonly 'identity-provider-id'?: string }
  readonly body?: unknown
}

/** The handlers, which refuse whatever provider a request names in its query or body but the default one. */
export function ofDefaultProvider<H extends object>(handlers: H): H {
  const checked = Object.entries(handlers).map(([name, handle]) => [
    name,
    async (request: OfProvider) => {
      checkProvider(request.query['identity-provider-id'] ?? '')
      checkProvider(String(Object(request.body).identityProviderId ?? ''))
      return await handle(request)
    },
  ])
  // Object.entries loses the keys that the type states.
  return Object.fromEntries(checked) as H
}
