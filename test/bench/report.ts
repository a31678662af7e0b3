/** Rows of the report: a ratio of two numbers of one run, and what it should be (test/bench/README.md). */
export type Row = {
  readonly what: string
  readonly value: number
  readonly unit?: string
  /** Null for what is only told. */
  readonly budget: { readonly kind: 'at least' | 'at most'; readonly value: number } | null
}

const WIDTH = 68

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** All rows of this run, in order. */
export const printedRows: Row[] = []

export function printRow(printed: Row): void {
  printedRows.push(printed)
  const { what, value, unit = '', budget } = printed
  const verdict = budget === null ? '' : isMet(value, budget) ? 'ok' : 'OVER BUDGET'
  const wanted = budget === null ? '' : `${budget.kind === 'at least' ? '≥' : '≤'} ${budget.value}`
  const number = `${round(value)}${unit === '' ? '' : ` ${unit}`}`
  print(`${what.padEnd(WIDTH)}${number.padStart(14)}  ${wanted.padEnd(8)} ${verdict}`.trimEnd())
}

function isMet(value: number, budget: NonNullable<Row['budget']>): boolean {
  return budget.kind === 'at least' ? value >= budget.value : value <= budget.value
}

/** Three significant digits, or none behind the point where there are more before it. */
export function round(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
