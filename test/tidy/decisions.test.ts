/** Each decision has a number, a heading, a short text, and a row in the table of all decisions. */
import { describe, expect, it } from 'vitest'
import { read } from '../support/tree.ts'
import {
  type Decision,
  decisionPages,
  decisions,
  decisionsOf,
  INDEX,
  misnumbered,
  problemsOf,
  rowOf,
  WORDS_MAX,
} from './decisions.ts'

const planted = (text: string): Decision => ({ page: 'planted', number: 1, title: 'One', text })
const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ')
const textOf = (consequences: string) =>
  `**Decision.** This.\n\n**Why.** That.\n\n**Consequences.** ${consequences}`

describe('decisions', () => {
  it('are parsed by their headings', () => {
    const page = '# Topic\n\nWords.\n\n### D-1 One\nText.\n\n### D-2 Two\n\n#### D-3 Three\nMore.\n'
    expect(
      decisionsOf('planted', page).map(({ number, title, text }) => [number, title, text]),
    ).toEqual([
      [1, 'One', 'Text.'],
      [2, 'Two', ''],
      [3, 'Three', 'More.'],
    ])
  })

  it('check detects duplicate and missing numbers', () => {
    expect(misnumbered([2, 1, 3])).toEqual([])
    expect(misnumbered([1, 3, 4, 4])).toEqual(['D-2 exists 0 times', 'D-4 exists 2 times'])
  })

  it('check detects decisions that are too long or incomplete', () => {
    expect(problemsOf(planted(textOf(words(WORDS_MAX - 5))))).toEqual([])
    expect(problemsOf(planted('Superseded by D-2.'))).toEqual([])
    expect(problemsOf(planted(textOf(words(WORDS_MAX - 4))))).toEqual(['D-1 has 121 words'])
    const incomplete = ['D-1 is not one decision, its reason and its consequences']
    expect(problemsOf(planted(textOf('').trim()))).toEqual(incomplete)
    expect(problemsOf(planted(`${textOf('So.')} **Why.** Again.`))).toEqual(incomplete)
    expect(problemsOf(planted('Superseded by D-2. And more.'))).toEqual(incomplete)
  })

  it('have the numbers from 1 on, each once', () => {
    expect(decisions.length).toBeGreaterThan(0)
    expect(misnumbered(decisions.map(({ number }) => number))).toEqual([])
  })

  it('have a decision, its reason and its consequences, in at most 120 words', () => {
    expect(decisions.flatMap(problemsOf)).toEqual([])
  })

  it('have a heading of the same level on a page of their topic, in ascending order', () => {
    for (const page of decisionPages) {
      const headings = read(page).match(/^#+ .*D-\d.*$/gm) ?? []
      expect(headings).toEqual(
        decisions
          .filter((decision) => decision.page === page)
          .toSorted((one, other) => one.number - other.number)
          .map(({ number, title }) => `### D-${number} ${title}`),
      )
    }
  })

  it('have a row in the table of all decisions, with title, link and topic', () => {
    const rows = read(INDEX).match(/^\| D-\d.*$/gm)
    expect(rows).toEqual(decisions.toSorted((one, other) => one.number - other.number).map(rowOf))
  })
})
