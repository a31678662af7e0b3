/** The decisions of `docs/decisions/`: one page per topic, one heading per decision. */
import { files, read } from '../support/tree.ts'

export const INDEX = 'docs/decisions/README.md'
export const decisionPages = files.filter(
  (file) => /^docs\/decisions\/[a-z-]+\.md$/.test(file) && file !== INDEX,
)

export type Decision = {
  readonly page: string
  readonly number: number
  readonly title: string
  /** Text from the heading to the next one. */
  readonly text: string
}

/** Limit of the words of decision, why and consequences together. */
export const WORDS_MAX = 120
const PARTS = /^\*\*Decision\.\*\* \S.*\n\n\*\*Why\.\*\* \S.*\n\n\*\*Consequences\.\*\* \S.*$/s
const LABELS = /\*\*(?:Decision|Why|Consequences)\.\*\*/g
/** The text of a superseded decision. */
const SUPERSEDED = /^Superseded by D-\d+\.$/

export function decisionsOf(page: string, text: string): Decision[] {
  return text
    .split(/^#+ /m)
    .map((section) => /^D-(\d+) ([^\n]+)\n(.*)$/s.exec(section))
    .flatMap((found) => {
      const [, number = '', title = '', body = ''] = found ?? []
      return found === null ? [] : [{ page, number: Number(number), title, text: body.trim() }]
    })
}

export const decisions = decisionPages.flatMap((page) => decisionsOf(page, read(page)))

/** Problems of the form of a decision. */
export function problemsOf({ number, text }: Decision): string[] {
  if (SUPERSEDED.test(text)) return []
  const problems: string[] = []
  if (!PARTS.test(text) || text.match(LABELS)?.length !== 3)
    problems.push(`D-${number} is not one decision, its reason and its consequences`)
  const words = text.split(/\s+/).length
  if (words > WORDS_MAX) problems.push(`D-${number} has ${words} words`)
  return problems
}

/** A line for each duplicate or missing number from 1 to the largest. */
export function misnumbered(numbers: readonly number[]): string[] {
  return Array.from({ length: Math.max(0, ...numbers) }, (_, index) => index + 1).flatMap(
    (number) => {
      const count = numbers.filter((one) => one === number).length
      return count === 1 ? [] : [`D-${number} exists ${count} times`]
    },
  )
}

/** Its row in the table of all decisions. */
export function rowOf({ page, number, title }: Decision): string {
  const file = page.slice(page.lastIndexOf('/') + 1)
  const anchor = `D-${number} ${title}`
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
  const [, topic = ''] = /^# (.+)\n/.exec(read(page)) ?? []
  return `| D-${number} | [${title}](${file}#${anchor}) | ${topic} |`
}
