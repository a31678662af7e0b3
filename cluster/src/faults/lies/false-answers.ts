/** The false answers of a lying node. Pure. */

import type { Lookup } from '@quorumscan/verifier'
import { PARTY } from '@quorumscan/verifier'
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import type { LieKind } from '../../view/lies.ts'

/** Values for false answers. */
export type LieContext = {
  /** The party that profits from the lies. */
  readonly liar: string
  /** A real entry that was not requested, or null. */
  readonly other: CertifiedEntry | null
}

const INVENTED_CONTRACT = `00${'6c'.repeat(32)}`
const INVENTED_NAME = 'mallory.unverified.ns'
const FAR_FUTURE = '2099-01-01T00:00:00.000000Z'

/** The entry instead of the true one; null: the name does not exist. */
export function lieAboutEntry(
  kind: LieKind,
  truth: { readonly lookup: Lookup; readonly entry: CertifiedEntry | null },
  context: LieContext,
): CertifiedEntry | null {
  const { entry, lookup } = truth
  switch (kind) {
    case 'value':
    case 'equivocate':
      return entry === null ? null : { ...entry, ...stolen(lookup, context.liar) }
    case 'invent':
      return entry ?? inventedEntry(lookup, context.liar)
    case 'deny':
      return null
    case 'other-name':
      return context.other
    default:
      return entry
  }
}

/** Any other answer: parties become the liar, and lists lose their first item or begin with an invented one. */
export function lieAboutDocument(kind: LieKind, document: unknown, context: LieContext): unknown {
  if (kind === 'value' || kind === 'equivocate') return withParty(document, context.liar)
  if (kind !== 'deny' && kind !== 'invent' && kind !== 'other-name') return document
  if (typeof document !== 'object' || document === null) return document
  const invented =
    kind === 'other-name' ? context.other : inventedEntry({ name: INVENTED_NAME }, context.liar)
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value]
      if (kind === 'deny') return [name, value.slice(1)]
      return [name, name === 'entries' && invented !== null ? [invented, ...value] : value]
    }),
  )
}

/** A requested name gets another owner; a requested party gets another name. */
function stolen(lookup: Lookup, liar: string): Partial<CertifiedEntry> {
  return 'name' in lookup ? { user: liar } : { name: INVENTED_NAME }
}

function inventedEntry(lookup: Lookup, liar: string): CertifiedEntry {
  const user = 'name' in lookup ? liar : lookup.party
  const name = 'name' in lookup ? lookup.name : INVENTED_NAME
  const others = { url: '', description: '', expires_at: FAR_FUTURE }
  return { contract_id: INVENTED_CONTRACT, user, name, ...others }
}

function withParty(value: unknown, liar: string): unknown {
  if (typeof value === 'string') return PARTY.test(value) ? liar : value
  if (Array.isArray(value)) return value.map((item) => withParty(item, liar))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withParty(member, liar)]),
  )
}
