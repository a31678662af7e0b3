/** Parses typed names and prefixes. Error messages are sentences for users. */
import { failure, invalidArgument, type QuorumscanError } from '../errors.ts'
import { assertText } from '../platform/arguments.ts'
import { isParty } from '../platform/party.ts'
import { lookAlikeOf } from './look-alikes.ts'
import { isName, normalizeName, SUFFIX } from './name-rules.ts'

/** A name in its parts. */
export type ParsedName = {
  /** The whole name, as lookups take it. */
  readonly name: string
  /** The part before the suffix. */
  readonly label: string
  /** `.unverified.ns` of names that users register; `.sv.ns` and `.ns` of names of the network itself. */
  readonly suffix: '.unverified.ns' | '.sv.ns' | '.ns'
}

/** A possible prefix of a name. */
const PREFIX = /^[a-z0-9_.-]{0,60}$/
const FOREIGN = /[^a-z0-9_.-]/gu
const FOREIGN_MAX = 5
/** Scripts whose names most users know. */
const SCRIPTS = ['Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Latin']

/**
 * Parses a typed name.
 *
 * @throws {QuorumscanError} INVALID_NAME if it cannot be one. The message and `details.rule` have the reason.
 */
export function parseName(typed: string): ParsedName {
  const refused = refusalOfName(typed)
  if (refused !== null) throw refused
  const name = normalizeName(typed)
  const suffix = (['.unverified.ns', '.sv.ns'] as const).find((end) => name.endsWith(end)) ?? '.ns'
  return { name, label: name.slice(0, -suffix.length), suffix }
}

/** Why the text cannot be a name, as `parseName` throws it; null: it can be one. */
export function refusalOfName(typed: string): QuorumscanError | null {
  if (typeof typed !== 'string') return invalidArgument('A name must be a string.')
  const name = normalizeName(typed)
  if (isParty(typed.trim()))
    return refusal('This is a party, not a name: `names.reverse` finds its name', typed)
  return isName(name) ? null : refusal(foreignIn(name) ?? shapeOf(name), typed)
}

/** Parses a typed prefix. @throws {QuorumscanError} INVALID_NAME if no name can begin with it. */
export function parsePrefix(typed: string): string {
  assertText('The prefix', typed)
  const prefix = typed.trim().replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  if (PREFIX.test(prefix)) return prefix
  throw refusal(foreignIn(prefix) ?? 'A name has at most 60 characters', typed)
}

/**
 * Parses a name that users can register.
 *
 * @throws {QuorumscanError} INVALID_NAME, and NAME_SUFFIX_MISSING for names of the network itself.
 */
export function parseRegistrableName(typed: string): string {
  const { name, suffix } = parseName(typed)
  if (suffix === SUFFIX) return name
  throw refusal(`Names that can be registered end in ${SUFFIX}`, name, 'NAME_SUFFIX_MISSING')
}

function refusal(
  rule: string,
  name: string,
  code: 'INVALID_NAME' | 'NAME_SUFFIX_MISSING' = 'INVALID_NAME',
): QuorumscanError {
  return failure(code, `${rule}.`, { details: { name, rule } })
}

/** Describes the characters that names do not have; undefined: none. */
function foreignIn(name: string): string | undefined {
  const foreign = [...new Set(name.match(FOREIGN))].slice(0, FOREIGN_MAX)
  return foreign.length === 0
    ? undefined
    : `A name has only a-z, 0-9, "_" and "-": ${foreign.map(describe).join(', ')}`
}

function describe(character: string): string {
  const number = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
  if (/[\p{C}\p{Z}\p{M}]/u.test(character)) return `${number} is a space or invisible`
  const script = SCRIPTS.find((each) => new RegExp(`\\p{Script=${each}}`, 'u').test(character))
  const kind = script === undefined ? '' : `, ${script}`
  const like = lookAlikeOf(character)
  const looks = like === undefined ? 'is not allowed' : `only looks like "${like}"`
  return `"${character}" (${number}${kind}) ${looks}`
}

function shapeOf(name: string): string {
  if (name === '') return 'A name is not empty'
  if (!/\.ns$/.test(name) || !/\.(?:unverified|sv)\.ns$/.test(name))
    return `A name ends in ${SUFFIX}, and those of the network itself in .sv.ns`
  return name.endsWith(SUFFIX)
    ? `The part before ${SUFFIX} is 1 to 46 of a-z, 0-9, "_" and "-"`
    : 'The part before .sv.ns is 1 to 32 of a-z, 0-9 and "-"'
}
