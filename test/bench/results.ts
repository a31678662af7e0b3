/** Stored results of benchmarks, and the tables of test/bench/README.md that are generated from them. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { ROOT } from '../support/root.ts'
import { formatBudget, formatMedian, formatSpread, isMet, type Row } from './report.ts'

export type Result = {
  readonly part: string
  readonly size: 'smoke' | 'quick' | 'full'
  /** Commit of the measured code. */
  readonly commit: string
  /** ISO 8601. */
  readonly date: string
  readonly processor: string | null
  readonly cores: number
  readonly node: string
  readonly rows: readonly Row[]
}

/** Paths whose code the benchmarks measure, in the notation of git. */
const MEASURED = ['packages', 'apps', 'cluster/src', 'sdk/src', ':(exclude)*.test.ts']
const RESULTS = `${ROOT}test/bench/results`
const README = `${ROOT}test/bench/README.md`

/** Stores the result, in place of an earlier one of the part. */
export function recordResult(result: Result): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(`${RESULTS}/${result.part}.json`, `${JSON.stringify(result, null, 2)}\n`)
}

export function readResults(): readonly Result[] {
  if (!existsSync(RESULTS)) return []
  return readdirSync(RESULTS)
    .sort()
    .map((name) => JSON.parse(readFileSync(`${RESULTS}/${name}`, 'utf8')))
}

export function writeTables(): void {
  writeFileSync(README, withTables(readFileSync(README, 'utf8'), readResults(), isOlder))
}

/**
 * Puts the table of each result between `<!-- results of PART -->` and `<!-- end of results -->`.
 *
 * @throws {Error} If the text has no place for a result.
 */
export function withTables(
  text: string,
  results: readonly Result[],
  isOlderThanCode: (result: Result) => boolean,
): string {
  return results.reduce((rest, result) => {
    const [begin, end] = [`<!-- results of ${result.part} -->\n`, '<!-- end of results -->']
    const [before, after] = rest.split(begin)
    const remaining = after?.slice(after.indexOf(end))
    if (remaining === undefined)
      throw new Error(`The README has no place for the results of ${result.part}`)
    return `${before}${begin}${tableOf(result, isOlderThanCode(result))}${remaining}`
  }, text)
}

/** Added to results if the code has changed since. */
export const OLDER = ' **The code has changed since.**'

function tableOf(result: Result, isOlder: boolean): string {
  const { commit, date, processor, cores, node, size, rows } = result
  const where = `${cores} × ${processor ?? 'unknown processor'}, Node ${node.slice(1)}`
  const cells = rows.map((row) => {
    const median = isMet(row) ? formatMedian(row) : `**${formatMedian(row)}**`
    return [row.what, formatBudget(row.budget), median, formatSpread(row)]
  })
  const lines = [['', 'budget', 'median', 'least–most'], ['---', '---', '---', '---'], ...cells]
  return [
    `Measured at \`${commit.slice(0, 8)}\`${commit.slice(40)} on ${date.slice(0, 10)}, size \`${size}\`, ${where}.${isOlder ? OLDER : ''}`,
    '',
    ...lines.map((line) => `| ${line.join(' | ')} |`),
    '',
  ].join('\n')
}

function isOlder({ commit }: Result): boolean {
  const range = `${commit.slice(0, 40)}..HEAD`
  const options = { cwd: ROOT, encoding: 'utf8' } as const
  return execFileSync('git', ['log', '--format=%h', range, '--', ...MEASURED], options) !== ''
}
