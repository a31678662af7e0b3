/** Which texts of others a wallet may show in place of a name. Loaded when a resolver sends one. */
import { lookAlikeOf } from '../names/look-alikes.ts'
import { isName } from '../names/name-rules.ts'

const LENGTH_MAX = 64
/** Letters, digits, marks and common punctuation. No control or format character, other space, symbol or emoji. */
const PLAIN = /^[\p{L}\p{N}\p{Mn}\p{Mc} .,:;'’‘"“”„«»&()/+#*!?@_–—・-]+$/u
const VISIBLE = /[\p{L}\p{N}]/u
/** Characters that are letters or marks, and are not visible, such as fillers and variation selectors. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u
/** Space at an end, two spaces in a row, a mark without a letter, or three marks in a row. */
const MISSHAPEN = /^ | $| {2}|^\p{M}|[^\p{L}\p{M}]\p{M}|\p{M}{3}/u
/** A domain, a qualified name, a party or an address, such as the verified name of another party. */
const NAME_IN_WORD =
  /[\p{L}\p{N}_-]\.[\p{L}\p{N}_-]{2}|\p{Script=Latin}・\p{Script=Latin}|[:@][^ ]/u
/** Phonetic letters and letters of clicks: Latin, and seen only in place of others. */
const PHONETIC = /[\u0250-\u02af\u1d00-\u1dbf\uab30-\uab6f\u01c0-\u01c3]/

/** A word is of one script (UTS #39). Chinese, Japanese and Korean also have Latin letters. */
const WORDS = [
  ['Latin'],
  ['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul', 'Latin'],
  ...['Cyrillic', 'Greek', 'Armenian', 'Georgian', 'Hebrew', 'Arabic', 'Ethiopic'].map(only),
  ...['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu'].map(only),
  ...['Kannada', 'Malayalam', 'Sinhala', 'Thai', 'Lao', 'Tibetan', 'Myanmar', 'Khmer'].map(only),
].map((scripts) => {
  const classes = [...scripts, 'Common', 'Inherited'].map(
    (name) => `\\p{Script_Extensions=${name}}`,
  )
  return new RegExp(`^[${classes.join('')}]+$`, 'u')
})

function only(script: string): string[] {
  return [script]
}

/**
 * The display name that a resolver sent, if it can be shown: visible, at most 64 characters, of letters that are what
 * they look like, and without the name of another party. Otherwise the name itself, which is printable ASCII.
 *
 * @param name - As the naming system writes it.
 */
export function shownName(displayName: unknown, name: string): string {
  if (typeof displayName !== 'string') return name
  const text = displayName.normalize()
  return isShowable(text, name) ? text : name
}

function isShowable(text: string, name: string): boolean {
  if ([...text].length > LENGTH_MAX || text !== text.normalize('NFKC')) return false
  if (!PLAIN.test(text) || !VISIBLE.test(text)) return false
  if (INVISIBLE.test(text) || MISSHAPEN.test(text) || PHONETIC.test(text)) return false
  const own = [name.toLowerCase(), name.toLowerCase().split('.', 1)[0]]
  if (isName(text) && !own.includes(text.toLowerCase())) return false
  return text.split(' ').every((word) => {
    if (NAME_IN_WORD.test(word) && !own.includes(word.toLowerCase())) return false
    return WORDS.some((pattern) => pattern.test(word)) && !onlyLooksLatin(word)
  })
}

/** Whether the word has letters of another script, and each letter looks like one of a-z: `сосо` in Cyrillic. */
function onlyLooksLatin(word: string): boolean {
  const letters = word.toLowerCase().match(/\p{L}/gu) ?? []
  const isLatin = letters.every((one) => /\p{Script=Latin}/u.test(one))
  return !isLatin && letters.every((one) => lookAlikeOf(one) !== undefined)
}
