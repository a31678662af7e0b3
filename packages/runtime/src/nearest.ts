/** What a person may have meant who typed a name that does not exist. */
import { closest, distance } from 'fastest-levenshtein'

/** Two letters that changed places are two edits, and so is a letter too many with one that is another. */
const EDITS_MAX = 2
/** A shorter beginning says too little. */
const BEGINNING_MIN = 4
/** Of a long name more may be wrong. */
const LETTERS_PER_EDIT = 5

/** The name that is nearest to a word, or that alone begins with it; undefined if none is near. */
export function nearestOf(word: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const [begun, ...more] = names.filter((name) => name.startsWith(word))
  if (begun !== undefined && more.length === 0 && word.length >= BEGINNING_MIN) return begun
  const nearest = closest(word, names)
  const edits = Math.max(EDITS_MAX, Math.floor(word.length / LETTERS_PER_EDIT))
  return distance(word, nearest) <= edits ? nearest : undefined
}

/** `: did you mean …?`, or nothing, as the end of a sentence that names the word. */
export function didYouMean(word: string, names: readonly string[]): string {
  const nearest = nearestOf(word, names)
  return nearest === undefined ? '' : `: did you mean ${nearest}?`
}
