/**
 * Plain language: texts name the component that acts, and use the field's terms. CONTRIBUTING.md ("Language") has the
 * rules; this test refuses the words that break them most often.
 */
import { describe, expect, it } from 'vitest'
import { files, matchingLines, read } from './tree.ts'

/** A refused word, and what to write in its place. */
const REFUSED: readonly (readonly [word: string, replacement: string])[] = [
  ['whoever|whomever', 'the component: a node, a caller, an operator'],
  ['nobody|somebody|anybody', 'the component: no node, a caller, an operator'],
  ['who asks|what is asked', 'the caller, the request'],
  ['anew|once more', 'again, from scratch'],
  ['of late', 'recently'],
  ['beside', 'next to, in addition to'],
  ['(?:is|are|was|were) none(?! of)', 'does not exist, is missing'],
  ['(?:stand|stands|stood|standing) still', 'stalls'],
  ['(?:go|goes|went|going|gone) on', 'continues'],
  ['(?:is|are|was|were|be|been|being) told', 'receives, reports, logs'],
  ['can (?:still )?be lost', 'failures tolerated'],
  ['vouch|vouches|vouched', 'confirms'],
  ['(?:the|an|and|by) own', 'the local replica, its own key, the key of the node'],
]
const pattern = new RegExp(`\\b(?:${REFUSED.map(([word]) => word).join('|')})\\b`, 'i')

function replacementIn(line: string): string | undefined {
  const [, replacement] =
    REFUSED.find(([word]) => new RegExp(`\\b(?:${word})\\b`, 'i').test(line)) ?? []
  return replacement
}

/** Files that still have refused words. This list only shrinks. */
const TO_DO: readonly RegExp[] = []

const isText = (file: string) =>
  /\.(ts|tsx|mts|mjs|css|html|md|json|ya?ml|conf|cfg|py|service|timer)$|llms\.txt$|(^|\/)(Dockerfile|\.[a-z]+ignore)$/.test(
    file,
  ) &&
  !/(^|\/)CHANGELOG\.md$|(^|\/)(package-lock|tsconfig)[^/]*$|\/generated\/|words\.test\.ts$/.test(
    file,
  )

/** `is None` of Python is not a sentence. */
const textOf = (file: string) =>
  file.endsWith('.py') ? read(file).replaceAll('is None', '') : read(file)

describe('plain language', () => {
  it('finds a refused word in a sentence, and no word that only contains one', () => {
    expect(pattern.test('Nobody is asked.')).toBe(true)
    expect(pattern.test('The stream goes on.')).toBe(true)
    expect(pattern.test('There is none.')).toBe(true)
    expect(pattern.test('It reads the own replica.')).toBe(true)
    expect(pattern.test('besides, a renewed entry')).toBe(false)
    expect(replacementIn('It stands beside the node.')).toBe('next to, in addition to')
  })

  it('texts have no refused word', () => {
    const checked = files.filter((file) => isText(file) && !TO_DO.some((one) => one.test(file)))
    const found = matchingLines(checked, pattern, textOf).map(
      (line) => `${line} → ${replacementIn(line)}`,
    )
    expect(found).toEqual([])
  })

  it('no exception is needless', () => {
    const needed = matchingLines(files.filter(isText), pattern, textOf).map((hit) =>
      hit.slice(0, hit.indexOf(':')),
    )
    expect(TO_DO.filter((one) => !needed.some((file) => one.test(file)))).toEqual([])
  })
})
