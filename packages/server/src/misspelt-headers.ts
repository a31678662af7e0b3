/**
 * Request headers that are nearly the name of one of ours: a misspelt `x-quorum` would have the effect of `weak`. Other
 * headers have no effect.
 */
import { didYouMean, nearestOf } from '@quorumscan/runtime'

/** Headers of this service, which a caller may misspell. */
const OWN_HEADER = /^x-/
/** `x-quorum` and `x-min` of `x-min-offset`: what begins so is one of ours. */
const FAMILY = /^x-[a-z]+/
/** Each is compared with our names by its letters. Proxies add a dozen; a request has room for thousands. */
const UNKNOWN_MAX = 64

/**
 * What is wrong with the headers of a request: the member, with the rule that it breaks. Null: nothing.
 *
 * @param names - Of the declared headers.
 * @param options.nearest - The name that is near to a word.
 */
export function createMisspeltHeaders(names: readonly string[], { nearest = nearestOf } = {}) {
  const own = names.filter((name) => OWN_HEADER.test(name))
  const families = own.map((name) => FAMILY.exec(name)?.[0])
  return (headers: object): { readonly path: string; readonly rule: string } | null => {
    if (own.length === 0) return null
    let unknownCount = 0
    for (const name of Object.keys(headers)) {
      if (!OWN_HEADER.test(name) || own.includes(name)) continue
      if (++unknownCount > UNKNOWN_MAX)
        return {
          path: 'headers',
          rule: `must not have more than ${UNKNOWN_MAX} unknown ones of x-`,
        }
      if (families.includes(FAMILY.exec(name)?.[0]) || nearest(name, own) !== undefined)
        return { path: `headers.${name}`, rule: `is unknown${didYouMean(name, own)}` }
    }
    return null
  }
}
