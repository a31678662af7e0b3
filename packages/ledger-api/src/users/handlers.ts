/** Users and their rights on the ledger interface (D-28, D-32). */

import {
  type LedgerRight,
  type LedgerUser,
  type LedgerUserInput,
  USER_MASK_PATHS,
  USERS_PAGE_MAX,
} from '@quorumscan/api'
import { isAdmin } from '@quorumscan/auth'
import { LedgerError } from '@quorumscan/errors'
import { isPartyId, isUserId, type Right, type User } from '@quorumscan/model'
import {
  mergeRights,
  RIGHTS_PER_USER_MAX,
  type UserRecord,
  type Users,
  withoutRights,
} from '@quorumscan/users'
import { memberOf } from '@quorumscan/verifier'
import { newUser } from '@quorumscan/wallet'
import type { Caller } from '../callers.ts'
import {
  denied,
  invalidArgument,
  invalidField,
  missingField,
  quoted,
  requiredUserId,
} from '../commands/grammar.ts'
import type { LedgerHandlersOf } from '../http/handler.ts'
import {
  readAnnotationsChange,
  readMask,
  readNewAnnotations,
  readVersionCheck,
  versionText,
} from './metadata.ts'

export function ledgerUserHandlers(users: Users): LedgerHandlersOf<'users'> {
  /** A user may read its own record, an administrator each record. */
  const recordFor = async (caller: Caller, id: string): Promise<UserRecord> => {
    requiredUserId(id, 'user_id')
    const isAllowed = id === caller.userId || isAdmin(caller.rights)
    if (!isAllowed) throw denied(`${caller.userId} may not read the user ${quoted(id)}`)
    return (await users.get(id)) ?? unknownUser(id)
  }
  const userFor = async (caller: Caller, id: string) => {
    return { user: toLedgerUser(await recordFor(caller, id)) }
  }

  /** Changes the rights of a user by those of the request. */
  const changeRights = async (
    { params, body }: Parameters<LedgerHandlersOf<'users'>['grantRights']>[0],
    change: (rights: readonly Right[], named: readonly Right[]) => readonly Right[],
  ): Promise<{ readonly before: readonly Right[]; readonly after: readonly Right[] }> => {
    const named = body.rights.map(readRight)
    const id = checkedUserId(params.id, body.userId)
    let before: readonly Right[] = []
    const updated = await users.update(id, (record) => {
      before = record.rights
      return { ...record, rights: bounded(change(record.rights, named)) }
    })
    return { before, after: (updated ?? unknownUser(id)).rights }
  }

  return {
    getAuthenticatedUser: ({ caller }) => userFor(caller, caller.userId),
    async listLedgerUsers(request) {
      const page = readPage(request.query, { sizeMax: USERS_PAGE_MAX, isToken: isUserId })
      const found = await users.list(page)
      const ids = found.map(({ user }) => user.id)
      return { users: found.map(toLedgerUser), nextPageToken: nextPageToken(ids, page) }
    },
    async createLedgerUser(request) {
      const user = readUser(request.body.user)
      const rights = bounded(mergeRights(request.body.rights.map(readRight)))
      if (!(await users.insert({ user, rights })))
        throw new LedgerError('USER_ALREADY_EXISTS', `The user ${user.id} exists already.`, {
          resources: [['USER', user.id]],
        })
      return { user: toLedgerUser({ user }) }
    },
    getLedgerUser: ({ caller, params }) => userFor(caller, params.id),
    async updateLedgerUser(request) {
      const { id } = request.params
      const { user, updateMask } = request.body
      requiredUserId(id, 'user.id')
      if (user.id !== '' && user.id !== id)
        throw invalidArgument('user.id differs from the id of the path')
      const change = readChange(user, updateMask)
      return { user: toLedgerUser((await users.update(id, change)) ?? unknownUser(id)) }
    },
    async deleteLedgerUser(request) {
      const id = requiredUserId(request.params.id, 'user_id')
      // An administrator would lock itself out.
      if (id === request.caller.userId) throw invalidArgument('a user cannot delete itself')
      if (!(await users.delete(id))) unknownUser(id)
      return {}
    },
    async updateUserProvider({ params, body }) {
      const id = checkedUserId(params.id, body.userId)
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
      const { before, after } = await changeRights(request, mergeRights)
      return { newlyGrantedRights: withoutRights(after, before).map(toLedgerRight) }
    },
    async revokeRights(request) {
      const { before, after } = await changeRights(request, withoutRights)
      return { newlyRevokedRights: withoutRights(before, after).map(toLedgerRight) }
    },
  }
}

function checkedUserId(ofPath: string, ofBody: string): string {
  if (ofBody !== '' && ofBody !== ofPath)
    throw invalidArgument('user_id of the body differs from the id of the path')
  return requiredUserId(ofPath, 'user_id')
}

function unknownUser(id: string): never {
  throw new LedgerError('USER_NOT_FOUND', `The user ${id} does not exist.`, {
    resources: [['USER', id]],
  })
}

function bounded(rights: readonly Right[]): readonly Right[] {
  if (rights.length > RIGHTS_PER_USER_MAX)
    throw new LedgerError(
      'TOO_MANY_USER_RIGHTS',
      `A user has at most ${RIGHTS_PER_USER_MAX} rights.`,
    )
  return rights
}

function toLedgerUser({ user, version = 0 }: Pick<UserRecord, 'user' | 'version'>): LedgerUser {
  const { id, isDeactivated, identityProviderId } = user
  const primaryParty = user.primaryParty ?? ''
  const metadata = { resourceVersion: versionText(version), annotations: { ...user.metadata } }
  return { id, primaryParty, isDeactivated, metadata, identityProviderId }
}

function readUser(user: LedgerUserInput): User {
  const id = requiredUserId(user.id, 'user.id')
  checkProvider(user.identityProviderId)
  checkAuthentication(user)
  const { isDeactivated } = user
  const metadata = readNewAnnotations(user.metadata, 'user.metadata')
  return { ...newUser(id, readPrimaryParty(user)), isDeactivated, metadata }
}

/** The change that the paths of an update mask select. */
function readChange(
  user: LedgerUserInput,
  mask: { readonly paths: readonly string[] } | undefined,
): (current: UserRecord) => UserRecord {
  const isSelected = readMask(mask, USER_MASK_PATHS)
  checkProvider(user.identityProviderId)
  checkAuthentication(user)
  const field = 'user.metadata'
  const code = 'CONCURRENT_USER_UPDATE_DETECTED'
  const checkVersion = readVersionCheck(user.metadata, { field, code })
  const primaryParty = readPrimaryParty(user)
  const changeAnnotations = readAnnotationsChange(user.metadata, field)
  return (record) => {
    checkVersion(record.version ?? 0)
    const changed = { ...record.user }
    if (isSelected('primary_party')) changed.primaryParty = primaryParty
    if (isSelected('is_deactivated')) changed.isDeactivated = user.isDeactivated
    if (isSelected('metadata.annotations')) changed.metadata = changeAnnotations(changed.metadata)
    return { ...record, user: changed }
  }
}

/** Tokens are those of the identity provider alone (D-32). */
function checkAuthentication({ primaryPartyAuthentication }: LedgerUserInput): void {
  if (primaryPartyAuthentication)
    throw invalidArgument('user.primary_party_authentication: parties sign no tokens here')
}

function readPrimaryParty({ primaryParty }: LedgerUserInput): string | null {
  if (primaryParty === '') return null
  if (!isPartyId(primaryParty))
    throw invalidField('user.primary_party', `${quoted(primaryParty)} is not a party identifier`)
  return primaryParty
}

/** The id by which the one provider is listed; requests may also leave it out. */
export const DEFAULT_PROVIDER = 'default'

/** D-32: only the default provider exists. */
export function checkProvider(id: string): void {
  if (id !== '' && id !== DEFAULT_PROVIDER)
    throw invalidArgument(`the identity provider ${quoted(id)} does not exist`)
}

/** The handlers, which refuse a request that names another provider than the default in its query or body. */
export function ofDefaultProvider<H extends object>(handlers: H): H {
  const checked = Object.entries(handlers).map(([name, handle]) => [
    name,
    async (request: { readonly query: object; readonly body?: unknown }) => {
      const query: { readonly 'identity-provider-id'?: string } = request.query
      checkProvider(query['identity-provider-id'] ?? '')
      checkProvider(String(memberOf(request.body, 'identityProviderId') ?? ''))
      return await handle(request)
    },
  ])
  // Object.entries loses the keys that the type states.
  return Object.fromEntries(checked) as H
}

const WITHOUT_PARTY = ['CanReadAsAnyParty', 'ParticipantAdmin', 'CanExecuteAsAnyParty'] as const

/** @throws {LedgerError} INVALID_ARGUMENT for a right that does not exist here. */
export function readRight({ kind }: LedgerRight): Right {
  if ('CanActAs' in kind) return { kind: 'CanActAs', party: readParty(kind.CanActAs) }
  if ('CanReadAs' in kind) return { kind: 'CanReadAs', party: readParty(kind.CanReadAs) }
  const plain = WITHOUT_PARTY.find((name) => name in kind)
  if (plain !== undefined) return { kind: plain }
  if ('Empty' in kind) throw missingField('rights.kind')
  // D-32: neither interactive submission nor further identity providers exist.
  throw invalidArgument(`this participant has no right ${Object.keys(kind)[0]}`)
}

function readParty({ value: { party } }: { readonly value: { readonly party: string } }): string {
  if (party === '') throw missingField('party')
  if (!isPartyId(party)) throw invalidArgument(`${quoted(party)} is not a party of this network`)
  return party
}

export function toLedgerRight(right: Right): LedgerRight {
  const value = 'party' in right ? { party: right.party } : {}
  // A variant has the name of the kind.
  return { kind: { [right.kind]: { value } } } as LedgerRight
}

/** The token holds the last item of the previous page. @throws {LedgerError} INVALID_ARGUMENT. */
export function readPage(
  query: { readonly pageSize?: number; readonly pageToken?: string },
  options: { readonly sizeMax: number; readonly isToken: (text: string) => boolean },
): { readonly after: string; readonly limit: number } {
  const { pageSize = 0, pageToken = '' } = query
  if (pageSize < 0 || pageSize > options.sizeMax)
    throw invalidArgument(`page_size lies between 0 and ${options.sizeMax}.`)
  const after = Buffer.from(pageToken, 'base64url').toString('utf8')
  if (pageToken !== '' && !options.isToken(after))
    throw invalidArgument('page_token was not issued by this participant.')
  return { after, limit: pageSize === 0 ? options.sizeMax : pageSize }
}

/** '' where the page was the last one. */
export function nextPageToken(page: readonly string[], { limit }: { readonly limit: number }) {
  return page.length < limit ? '' : Buffer.from(page.at(-1) ?? '').toString('base64url')
}
