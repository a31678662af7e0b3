/** Suggestions for a name that does not exist. */
import { closest, distance } from 'fastest-levenshtein'

/** Two exchanged letters are two edits, and so are an extra letter and a wrong one. */
const EDITS_MAX = 2
/** A shorter prefix is ambiguous. */
const PREFIX_LENGTH_MIN = 4
/** A long name may have more errors. */
const LETTERS_PER_EDIT = 5

/** The name nearest to a word, or the only one with this prefix; undefined if none is near. */
export function nearestOf(word: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const [first, ...more] = names.filter((name) => name.startsWith(word))
  if (first !== undefined && more.length === 0 && word.length >= PREFIX_LENGTH_MIN) return first
  const nearest = closest(word, names)
  const edits = Math.max(EDITS_MAX, Math.floor(word.length / LETTERS_PER_EDIT))
  return distance(word, nearest) <= edits ? nearest : undefined
}

/** `: did you mean …?`, or nothing, as the end of a sentence that names the word. */
export function didYouMean(word: string, names: readonly string[]): string {
  const nearest = nearestOf(word, names)
  return nearest === undefined ? '' : `: did you mean ${nearest}?`
}
