/** Limits on lines of code, files and functions keep the product small enough for one person to read. */
import { describe, expect, it } from 'vitest'
import { measure } from './measure.ts'
import { isTest, read, sources } from './tree.ts'

/** Product code of all workspaces when its layout was settled: lines that are neither blank nor comment. */
const SETTLED_CODE_LINES_MAX = 62_000
/** What features for operators added since. Other work makes room for itself. Decisions: docs/decisions/operators.md. */
const LINES_OF_LATER_FEATURES = {
  'rewards of super-validators are spent': 480,
  'checks before a start and of a running operator': 945,
  'one metrics address per operator': 130,
  'peers that change while processes run, encrypted backups': 470,
}
/** Comments state reasons and contracts, so they must not be removed to save lines. */
const CODE_LINES_PER_COMMENT_LINE_MAX = 7
const FILE_LINES_MAX = 350
/** Code lines of a function without the functions in it. */
const FUNCTION_LINES_MAX = 80
/** Code lines of a function with the functions in it, such as a factory. */
const FACTORY_LINES_MAX = 150

/** Files that are still too long. These lists only shrink. */
const LONG_FILES: readonly string[] = []

/** Files with a function that is still too long. */
const FILES_WITH_LONG_FUNCTIONS: readonly string[] = []

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
const CODE_LINES_MAX = SETTLED_CODE_LINES_MAX + sum(Object.values(LINES_OF_LATER_FEATURES))

const product = sources.filter(
  (file) =>
    /^(packages|apps|cluster|sdk)\//.test(file) &&
    !isTest(file) &&
    !/\.test\.tsx$|\.d\.ts$|\/(testing|test|examples)\/|generated/.test(file),
)
const sizes = product.map((file) => ({ file, ...measure(file, read(file)) }))
const workspaceOf = (file: string) =>
  /^((?:packages|apps)\/[^/]+|[^/]+)\//.exec(file)?.[1] ?? 'unknown'

/** Files that are too long and not listed, and listed files that are not too long. */
function differences(tooLong: readonly { file: string; text: string }[], list: readonly string[]) {
  const files = tooLong.map(({ file }) => file)
  return {
    tooLong: tooLong.filter(({ file }) => !list.includes(file)).map(({ text }) => text),
    needlessExceptions: list.filter((file) => !files.includes(file)),
  }
}

describe('the size of the product', () => {
  it('counts lines of code, comments and nested functions', () => {
    const source = `/** One
two */
export function outer() {

  // three
  const inner = () => {
    return 'https://no-comment' // four
  }
  return { inner, method() {} }
}
`
    expect(measure('a.ts', source)).toEqual({
      ...{ lines: 10, code: 6, comments: 3 },
      functions: [
        { line: 6, name: 'inner', all: 3, own: 3 },
        { line: 9, name: 'method', all: 1, own: 1 },
        { line: 3, name: 'outer', all: 6, own: 4 },
      ],
    })
  })

  it('finds a file that is too long, and a needless exception', () => {
    const tooLong = [
      { file: 'a.ts', text: 'a.ts: 351' },
      { file: 'b.ts', text: 'b.ts: 400' },
    ]
    expect(differences(tooLong, ['b.ts', 'c.ts'])).toEqual({
      tooLong: ['a.ts: 351'],
      needlessExceptions: ['c.ts'],
    })
  })

  it(`has at most ${CODE_LINES_MAX} lines of code`, () => {
    const total = sum(sizes.map(({ code }) => code))
    const perWorkspace = new Map<string, number>()
    for (const { file, code } of sizes)
      perWorkspace.set(workspaceOf(file), (perWorkspace.get(workspaceOf(file)) ?? 0) + code)
    const rows = [...perWorkspace, ['total', total] as const]
    for (const [name, code] of rows)
      process.stdout.write(`${String(code).padStart(6)} code lines: ${name}\n`)
    expect(product.length).toBeGreaterThan(500)
    expect(total).toBeLessThanOrEqual(CODE_LINES_MAX)
  })

  it('has at least one comment line per seven code lines', () => {
    const code = sum(sizes.map((one) => one.code))
    const comments = sum(sizes.map((one) => one.comments))
    expect(code / comments).toBeLessThanOrEqual(CODE_LINES_PER_COMMENT_LINE_MAX)
  })

  it(`has no file above ${FILE_LINES_MAX} lines`, () => {
    const tooLong = sizes
      .filter(({ lines }) => lines > FILE_LINES_MAX)
      .map(({ file, lines }) => ({ file, text: `${file}: ${lines} lines` }))
    expect(differences(tooLong, LONG_FILES)).toEqual({ tooLong: [], needlessExceptions: [] })
  })

  it(`has no function above ${FUNCTION_LINES_MAX} lines of code, or ${FACTORY_LINES_MAX} with nested functions`, () => {
    const tooLong = sizes.flatMap(({ file, functions }) =>
      functions
        .filter(({ own, all }) => own > FUNCTION_LINES_MAX || all > FACTORY_LINES_MAX)
        .map(({ line, name, own, all }) => ({
          file,
          text: `${file}:${line} ${name}: ${own} lines, ${all} with functions in it`,
        })),
    )
    const found = differences(tooLong, FILES_WITH_LONG_FUNCTIONS)
    expect(found).toEqual({ tooLong: [], needlessExceptions: [] })
  })
})
