/** What was typed as a name, or as the beginning of one; what is wrong with it is said in words for a person. */
import { failure, invalidArgument, type QuorumscanError } from '../errors.ts'
import { assertText } from '../platform/arguments.ts'
import { isParty } from '../platform/party.ts'
import { isName, normalizeName, SUFFIX } from './name-rules.ts'

/** A name in its parts. */
export type ParsedName = {
  /** The whole name, as lookups take it. */
  readonly name: string
  /** What stands before the suffix: what people call themselves. */
  readonly label: string
  /** `.unverified.ns` of names that anybody can register; `.sv.ns` and `.ns` of those of the network itself. */
  readonly suffix: '.unverified.ns' | '.sv.ns' | '.ns'
}

/** Of a beginning of a name: whatever has another character is the beginning of none. */
const PREFIX = /^[a-z0-9_.-]{0,60}$/
const FOREIGN = /[^a-z0-9_.-]/gu
const FOREIGN_MAX = 5
/** Only the names of these say something to a reader. */
const SCRIPTS = ['Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Latin']
/** What looks like a character of names, and has no decomposition to it (UTS #39, the letters in use). */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ...{ a: 'аɑα', b: 'ьв', c: 'сϲ', d: 'ԁ', e: 'еҽє', g: 'ɡց', h: 'һհн', i: 'іıɩι', j: 'јϳ' },
  ...{ k: 'кκ', l: 'ӏǀ|∣', m: 'м', n: 'ոηп', o: 'оοօσ', p: 'рρ', q: 'ԛգ', r: 'гꭇ', s: 'ѕꜱ' },
  ...{ t: 'тτ', u: 'υսʋ', v: 'ѵν', w: 'ԝѡωա', x: 'хχ×', y: 'уγүყ', z: 'ᴢ', '3': 'з' },
  ...{ '-': '‐‑‒–—―−', '.': '。·', _: '‗' },
}

/**
 * The name that was typed.
 *
 * @throws {QuorumscanError} INVALID_NAME if it can be none: what is wrong is in the message, and in `details.rule`.
 */
export function parseName(typed: string): ParsedName {
  const refused = refusalOfName(typed)
  if (refused !== null) throw refused
  const name = normalizeName(typed)
  const suffix = (['.unverified.ns', '.sv.ns'] as const).find((end) => name.endsWith(end)) ?? '.ns'
  return { name, label: name.slice(0, -suffix.length), suffix }
}

/** Why it can be no name, as `parseName` throws it; null: it can be one. */
export function refusalOfName(typed: string): QuorumscanError | null {
  if (typeof typed !== 'string') return invalidArgument('a name is a text.')
  const name = normalizeName(typed)
  if (isParty(typed.trim()))
    return invalidName(typed, 'This is a party, not a name: `names.reverse` finds its name')
  return isName(name) ? null : invalidName(typed, foreignIn(name) ?? shapeOf(name))
}

/** The beginning of names that was typed. @throws {QuorumscanError} INVALID_NAME if no name begins so. */
export function parsePrefix(typed: string): string {
  assertText('the prefix', typed)
  const prefix = typed.trim().replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  if (PREFIX.test(prefix)) return prefix
  throw invalidName(typed, foreignIn(prefix) ?? 'A name has at most 60 characters')
}

/**
 * A name that anybody could register, if it is free.
 *
 * @throws {QuorumscanError} INVALID_NAME, and NAME_SUFFIX_MISSING for names of the network itself.
 */
export function parseRegistrableName(typed: string): string {
  const { name, suffix } = parseName(typed)
  if (suffix === SUFFIX) return name
  throw refusal('NAME_SUFFIX_MISSING', `Names that can be registered end in ${SUFFIX}`, name)
}

function invalidName(typed: string, rule: string): QuorumscanError {
  return refusal('INVALID_NAME', rule, typed)
}

function refusal(
  code: 'INVALID_NAME' | 'NAME_SUFFIX_MISSING',
  rule: string,
  name: string,
): QuorumscanError {
  return failure(code, `${rule}.`, { details: { name, rule } })
}

/** What other characters there are, letter by letter; undefined: none. */
function foreignIn(name: string): string | undefined {
  const foreign = [...new Set(name.match(FOREIGN))].slice(0, FOREIGN_MAX)
  return foreign.length === 0
    ? undefined
    : `A name has only a-z, 0-9, "_" and "-": ${foreign.map(describe).join(', ')}`
}

function describe(character: string): string {
  const number = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
  if (/[\p{C}\p{Z}\p{M}]/u.test(character)) return `${number} is a space or cannot be seen`
  const script = SCRIPTS.find((each) => new RegExp(`\\p{Script=${each}}`, 'u').test(character))
  const kind = script === undefined ? '' : `, ${script}`
  const like = lookAlikeOf(character)
  const looks = like === undefined ? 'is none of these' : `only looks like "${like}"`
  return `"${character}" (${number}${kind}) ${looks}`
}

/** "é", "ａ" and "𝐚" are told by their decomposition. */
function lookAlikeOf(character: string): string | undefined {
  const [base = ''] = character.normalize('NFKD').toLowerCase()
  if (/[a-z0-9_.-]/.test(base)) return base
  return Object.keys(LOOK_ALIKES).find((like) => LOOK_ALIKES[like]?.includes(base))
}

function shapeOf(name: string): string {
  if (name === '') return 'A name is not empty'
  if (!/\.ns$/.test(name) || !/\.(?:unverified|sv)\.ns$/.test(name))
    return `A name ends in ${SUFFIX}, and those of the network itself in .sv.ns`
  return name.endsWith(SUFFIX)
    ? `The part before ${SUFFIX} is 1 to 46 of a-z, 0-9, "_" and "-"`
    : 'The part before .sv.ns is 1 to 32 of a-z, 0-9 and "-"'
}
