/** Measures the size of source files: code lines, comment lines, and the code lines of each function. */
import { parseSync } from 'oxc-parser'

type FunctionSize = {
  /** The line on which it begins, from 1. */
  readonly line: number
  readonly name: string
  /** Code lines, including those of nested functions. */
  readonly all: number
  /** Code lines without those of nested functions. A nested function counts as one line. */
  readonly own: number
}

type FileSize = {
  readonly lines: number
  readonly code: number
  readonly comments: number
  readonly functions: readonly FunctionSize[]
}

type AstNode = Readonly<Record<string, unknown>> & { readonly start: number; readonly end: number }

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']

/** A line with code and a comment is a code line. */
export function measure(file: string, source: string): FileSize {
  const { program, comments } = parseSync(file, source)
  const lines = source.replace(/\n$/, '').split('\n')
  const code = withoutComments(source, comments)
    .split('\n')
    .map((line) => line.trim() !== '')
  /** Code lines before the line with this index. */
  const codeBefore = [0]
  for (const isCode of code) codeBefore.push((codeBefore.at(-1) ?? 0) + Number(isCode))
  const lineOf = lineFinder(source)
  const functions: FunctionSize[] = []

  /** @returns The code lines to subtract from the enclosing function for the functions below this node. */
  const visit = (value: unknown, name: string): number => {
    if (Array.isArray(value)) return value.reduce((sum, one) => sum + visit(one, name), 0)
    if (!isNode(value)) return 0
    const nested = Object.values(value).reduce<number>(
      (sum, child) => sum + visit(child, nameOf(value) ?? name),
      0,
    )
    if (!FUNCTIONS.includes(String(value['type'])) || value['body'] === null) return nested
    const first = lineOf(value.start)
    const all = (codeBefore[lineOf(value.end) + 1] ?? 0) - (codeBefore[first] ?? 0)
    functions.push({ line: first + 1, name: nameOf(value) ?? name, all, own: all - nested })
    return all - 1
  }
  visit(program, '')
  const codeLines = codeBefore.at(-1) ?? 0
  const filled = lines.filter((line) => line.trim() !== '').length
  return { lines: lines.length, code: codeLines, comments: filled - codeLines, functions }
}

function isNode(value: unknown): value is AstNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

/** The name that a declaration gives to what is below it. */
function nameOf(node: AstNode): string | undefined {
  const named = (node['id'] ?? node['key']) as { readonly name?: string } | null | undefined
  return named?.name
}

/** The source with spaces in place of comments, so that each line keeps its number. */
function withoutComments(
  source: string,
  comments: readonly { readonly start: number; readonly end: number }[],
): string {
  const parts: string[] = []
  let at = 0
  for (const { start, end } of comments) {
    parts.push(source.slice(at, start), source.slice(start, end).replace(/[^\n]/g, ' '))
    at = end
  }
  return parts.concat(source.slice(at)).join('')
}

/** @returns The index of the line of an offset, by binary search. */
function lineFinder(source: string): (offset: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (offset) => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low
  }
}
