/** Name entries of the user (D-17, D-19). */
import type { Context } from '../context.ts'
import { createEntry, listOwnEntries } from '../names/entries.ts'
import { type HandlersOf, walletOf } from './handlers.ts'

export function nameHandlers(context: Context): HandlersOf<'createEntry' | 'listOwnEntries'> {
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
