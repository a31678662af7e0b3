/** Users and their parties (D-20). */
import { FIRST_ADMIN_USER } from '@quorumscan/auth'
import { ScanError } from '@quorumscan/errors'
import { createUser, register } from '../users/registration.ts'
import type { WalletDeps } from '../wallet/dependencies.ts'
import type { HandlersOf } from './handlers.ts'

export function userHandlers(
  context: WalletDeps,
): HandlersOf<'registerUser' | 'createUser' | 'getValidatorUser' | 'getUserStatus'> {
  return {
    async registerUser(request) {
      context.assertLive()
      return {
        body: {
          party_id: await register(context.registration, request.user.userId, request.signal),
        },
      }
    },
    async createUser(request) {
      context.assertLive()
      const { name, party_id: party, createPartyIfMissing } = request.body
      const input = {
        userId: name,
        party: party ?? null,
        isPartyCreated: createPartyIfMissing ?? false,
      }
      return {
        body: { party_id: await createUser(context.registration, input, request.signal) },
      }
    },
    async getValidatorUser() {
      const record = await context.store.users.get(FIRST_ADMIN_USER)
      const party = record?.user.primaryParty ?? null
      if (party === null)
        throw new ScanError('NOT_READY', "The operator's party is not allocated yet.")
      return { body: { party_id: party, user_name: FIRST_ADMIN_USER, featured: false } }
    },
    async getUserStatus(request) {
      const record = await context.store.users.get(request.user.userId)
      const party = record?.user.primaryParty ?? null
      return {
        body: {
          party_id: party ?? '',
          user_onboarded: party !== null,
          user_wallet_installed: party !== null,
          has_featured_app_right: false,
        },
      }
    },
  }
}
