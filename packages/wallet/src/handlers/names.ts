/** Name entries of the user (D-17, D-19). */

import { createEntry, listOwnEntries } from '../names/entries.ts'
import type { WalletDeps } from '../wallet/dependencies.ts'
import { type HandlersOf, walletOf } from './handlers.ts'

export function nameHandlers(context: WalletDeps): HandlersOf<'createEntry' | 'listOwnEntries'> {
  return {
    async createEntry(request) {
      const user = await walletOf(context, request)
      return { body: await createEntry(context, { user, fields: request.body }, request.signal) }
    },
    async listOwnEntries(request) {
      const user = await walletOf(context, request)
      return { body: { entries: [...(await listOwnEntries(context.ledger, user))] } }
    },
  }
}
