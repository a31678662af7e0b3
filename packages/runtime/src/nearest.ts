/** Suggestions for a name that does not exist. */
import { distance } from 'fastest-levenshtein'

/** Two exchanged letters are two edits, and so are an extra letter and a wrong one. */
const EDITS_MAX = 2
/** A shorter prefix is ambiguous. */
const PREFIX_LENGTH_MIN = 4
/** A long name may have more errors. */
const LETTERS_PER_EDIT = 5

/**
 * The name nearest to a word, or the only one with this prefix; undefined if none is near. A word that is longer than each
 * name by more letters than it may have edits costs one comparison of lengths for each name.
 *
 * @param options.editsOf - The number of edits between two words.
 */
export function nearestOf(
  word: string,
  names: readonly string[],
  { editsOf = distance } = {},
): string | undefined {
  const [first, ...more] = names.filter((name) => name.startsWith(word))
  if (first !== undefined && more.length === 0 && word.length >= PREFIX_LENGTH_MIN) return first
  let editsMax = Math.max(EDITS_MAX, Math.floor(word.length / LETTERS_PER_EDIT))
  let nearest: string | undefined
  for (const name of names) {
    // Each letter that one of them has more is an edit.
    if (Math.abs(name.length - word.length) > editsMax) continue
    const edits = editsOf(word, name)
    if (edits > editsMax) continue
    nearest = name
    editsMax = edits - 1
  }
  return nearest
}

/** `: did you mean …?`, or nothing, as the end of a sentence that names the word. */
export function didYouMean(word: string, names: readonly string[]): string {
  const nearest = nearestOf(word, names)
  return nearest === undefined ? '' : `: did you mean ${nearest}?`
}
