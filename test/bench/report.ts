/** Rows of the report: the figures of each turn, and the budget of their median (test/bench/README.md). */
import { median } from '@quorumscan/base'

export type Budget = { readonly kind: 'at least' | 'at most'; readonly value: number }
export type Row = {
  readonly what: string
  /** One for each turn, in order. */
  readonly values: readonly number[]
  readonly unit?: string
  /** Null: the row has no budget. */
  readonly budget: Budget | null
}

const WIDTH = 68

export const atLeast = (value: number): Budget => ({ kind: 'at least', value })
export const atMost = (value: number): Budget => ({ kind: 'at most', value })

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Names what cannot run on this machine. */
export function printSkipped(what: string): void {
  hasSkipped = true
  print(`SKIPPED  ${what}`)
}
let hasSkipped = false

/**
 * All rows that were printed since the last call, in order.
 *
 * @throws {Error} If no row was printed and nothing was skipped.
 */
export function takeRows(): readonly Row[] {
  if (printedRows.length === 0 && !hasSkipped) throw new Error('no figure was measured')
  return printedRows.splice(0)
}
const printedRows: Row[] = []

/** Removes the rows of a part that has failed. */
export function discardRows(): void {
  printedRows.length = 0
}

/** @throws {RangeError} If a turn has no finite figure: a side of a ratio served nothing. */
export function printRow(row: Row): void {
  if (!row.values.every(Number.isFinite))
    throw new RangeError(`${row.what}: ${row.values.join(', ')} is no result`)
  printedRows.push(row)
  const verdict = row.budget === null ? '' : isMet(row) ? 'ok' : 'OVER BUDGET'
  const line = `${row.what.padEnd(WIDTH)}${formatMedian(row).padStart(12)}  ${formatSpread(row).padEnd(14)}`
  print(`${line} ${formatBudget(row.budget).padEnd(7)} ${verdict}`.trimEnd())
}

export function isMet({ values, budget }: Row): boolean {
  if (budget === null) return true
  const value = median(values)
  return budget.kind === 'at least' ? value >= budget.value : value <= budget.value
}

export function formatMedian({ values, unit = '' }: Pick<Row, 'values' | 'unit'>): string {
  return `${round(median(values))} ${unit}`.trimEnd()
}

/** The smallest and the largest value; empty for one turn. */
export function formatSpread({ values }: Pick<Row, 'values'>): string {
  return values.length < 2 ? '' : `${round(Math.min(...values))}–${round(Math.max(...values))}`
}

export function formatBudget(budget: Budget | null): string {
  return budget === null ? '' : `${budget.kind === 'at least' ? '≥' : '≤'} ${budget.value}`
}

/** Formats with three significant digits, or as an integer from 100 on. */
export function round(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3)
}
