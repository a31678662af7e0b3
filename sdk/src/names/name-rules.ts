/** What can be registered (D-17), so that a form can say so before anything is asked or paid. */
import { QuorumscanError } from '../errors.ts'

const SUFFIX = '.unverified.ns'
const LABEL = /^[a-z0-9_-]{1,46}$/

/** @throws {QuorumscanError} NAME_SUFFIX_MISSING or INVALID_NAME, with the sentence also in `details.rule`. */
export function registrableName(name: string): void {
  const refuse = (code: string, rule: string) =>
    new QuorumscanError(`${rule}.`, { code, definite: true, retryable: false, details: { rule } })
  if (typeof name !== 'string' || !name.endsWith(SUFFIX))
    throw refuse('NAME_SUFFIX_MISSING', `A name ends in ${SUFFIX}`)
  if (!LABEL.test(name.slice(0, -SUFFIX.length)))
    throw refuse('INVALID_NAME', `The part before ${SUFFIX} is 1 to 46 of a-z, 0-9, "_" and "-"`)
}
