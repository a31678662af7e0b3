import type { BodyOf, scanRoutes } from '@quorumscan/api'
import { ASKED_NAME_LENGTH_MAX } from '@quorumscan/verifier'

/** One lookup as validation lets it through: at least one member is of the right form. */
export type Lookup = BodyOf<(typeof scanRoutes)['lookupEntries']>['lookups'][number]

/** What the schema takes for a name: any text that has a UTF-8 form. */
const WELL_FORMED = /^\P{Cs}*$/u

/**
 * A lookup that has both members is one by name (D-14), unless what it has there is no name: then that
 * is an unknown member like any other (D-7).
 */
export function isByName(lookup: Lookup): lookup is { name: string } {
  if (!('name' in lookup)) return false
  // The type knows the members that were checked; an unchecked one can be anything.
  const name: unknown = lookup.name
  return typeof name === 'string' && name.length <= ASKED_NAME_LENGTH_MAX && WELL_FORMED.test(name)
}
