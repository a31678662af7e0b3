/** The rules for the fields of a name entry (D-17). They use code units only, so that every replica agrees (Rule 1). */
import { LONE_SURROGATE } from '../encoding/lone-surrogate.ts'
import { ENTRY_NAME_LENGTH_MAX } from '../limits.ts'

export const NAME_SUFFIX = '.unverified.ns'
export const DSO_ENTRY_NAME = 'dso.ns'
const LABEL_LENGTH_MAX = ENTRY_NAME_LENGTH_MAX - NAME_SUFFIX.length
export const URL_LENGTH_MAX = 255
export const DESCRIPTION_UNITS_MAX = 140

export type EntryFields = {
  readonly name: string
  readonly url: string
  readonly description: string
}

export type EntryFieldViolation = {
  readonly code: 'NAME_SUFFIX_MISSING' | 'INVALID_NAME' | 'INVALID_URL' | 'INVALID_DESCRIPTION'
  /** The rule, as a sentence for a person. Permanent: it is part of the hashed result of an entry (Rule 1). */
  readonly rule: string
}

/** The synthetic entry of a super-validator (D-2). */
export function svEntryName(nodeName: string): string {
  return `${nodeName}.sv.ns`
}

// Controls (Cc) and the bidirectional formatting characters of UAX #9.
const FORBIDDEN_IN_DESCRIPTION =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the rule forbids.
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** The first rule of D-17 that the fields break, or undefined. */
export function findEntryFieldViolation(fields: EntryFields): EntryFieldViolation | undefined {
  if (!fields.name.endsWith(NAME_SUFFIX))
    return { code: 'NAME_SUFFIX_MISSING', rule: `a name ends in ${NAME_SUFFIX}` }
  const label = fields.name.slice(0, -NAME_SUFFIX.length)
  if (!/^[a-z0-9_-]{1,46}$/.test(label))
    return {
      code: 'INVALID_NAME',
      rule: `the part before ${NAME_SUFFIX} is 1 to ${LABEL_LENGTH_MAX} of a-z, 0-9, "_" and "-"`,
    }
  if (fields.url.length > URL_LENGTH_MAX)
    return { code: 'INVALID_URL', rule: `a url has at most ${URL_LENGTH_MAX} characters` }
  if (fields.url !== '' && !/^https?:\/\/(?:[!-$&-~]|%[0-9A-Fa-f]{2})+$/.test(fields.url))
    return {
      code: 'INVALID_URL',
      rule: 'a url is empty, or http:// or https:// and printable ASCII without spaces, with % before two hex digits only',
    }
  if (fields.description.length > DESCRIPTION_UNITS_MAX)
    return {
      code: 'INVALID_DESCRIPTION',
      rule: `a description has at most ${DESCRIPTION_UNITS_MAX} UTF-16 units`,
    }
  if (LONE_SURROGATE.test(fields.description))
    return {
      code: 'INVALID_DESCRIPTION',
      rule: 'a description is well-formed Unicode, without lone surrogates',
    }
  if (FORBIDDEN_IN_DESCRIPTION.test(fields.description))
    return {
      code: 'INVALID_DESCRIPTION',
      rule: 'a description has no control or bidirectional override characters',
    }
  return undefined
}
