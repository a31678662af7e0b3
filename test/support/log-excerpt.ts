/** The part of a process's log that a failed test prints: its first warnings, then its last lines. */

/** A failure often begins with one warning, long before the lines that repeat its consequence. */
const WARNINGS_MAX = 5
const LAST_LINES_MAX = 40

type Folded = { readonly line: Line; readonly count: number }
type Line = {
  /** Equal for lines that say the same. */
  readonly key: string
  readonly isWarning: boolean
  /** Without the stack. */
  readonly text: string
  readonly stack: string | undefined
}

/**
 * The excerpt of a log of JSON lines, CometBFT's included. Lines of the same message are shown once, with their number:
 * among the warnings as the first of them, among the last lines as the last. Other text is shown as it is.
 */
export function excerptOf(log: string): string {
  const lines = log.trimEnd().split('\n').map(parseLine)
  const warnings = fold(lines.filter(({ isWarning }) => isWarning)).slice(0, WARNINGS_MAX)
  const last = fold(lines.toReversed()).slice(0, LAST_LINES_MAX).toReversed()
  const begin = warnings.map(({ line, count }) =>
    [counted(line.text, count), ...(line.stack === undefined ? [] : [line.stack])].join('\n'),
  )
  const end = last.map(({ line, count }) => counted(line.text, count))
  if (begin.length === 0) return end.join('\n')
  return ['first lines of level warn or above:', ...begin, 'last lines:', ...end].join('\n')
}

function parseLine(text: string): Line {
  const fields = parseFields(text)
  if (fields === undefined) return { key: text, isWarning: false, text, stack: undefined }
  const { level, msg, _msg, code, err } = fields
  const { stack, ...error } = err ?? {}
  // Numbers are offsets, ports and times.
  const key = JSON.stringify([level, msg ?? _msg, code, error.message]).replace(/[0-9]+/g, '0')
  return {
    key,
    stack,
    isWarning: ['warn', 'error', 'fatal'].includes(level ?? ''),
    text: stack === undefined ? text : JSON.stringify({ ...fields, err: error }),
  }
}

type Fields = { level?: string; msg?: string; _msg?: string; code?: string; err?: LoggedError }
type LoggedError = { message?: string; stack?: string }

/** Undefined for a line that is no JSON object: a crash, or the log of Redis. */
function parseFields(text: string): Fields | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The first line of each message, in order. */
function fold(lines: readonly Line[]): readonly Folded[] {
  const byKey = new Map<string, Folded>()
  for (const line of lines) {
    const { line: first, count } = byKey.get(line.key) ?? { line, count: 0 }
    byKey.set(line.key, { line: first, count: count + 1 })
  }
  return [...byKey.values()]
}

function counted(text: string, count: number): string {
  return count === 1 ? text : `${text} × ${count}`
}
