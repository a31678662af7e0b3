import { timeOfDay } from './time.ts'

/** A line of a log: what a person reads of it, and whether it tells of trouble. */
export function logLineOf(line: string): { readonly text: string; readonly isTrouble: boolean } {
  const plain = { text: line, isTrouble: /\b(error|fatal)\b/i.test(line) }
  if (!line.startsWith('{')) return plain
  try {
    const { level, time, msg, pid, hostname, name, ...more } = JSON.parse(line)
    const at = Number.isFinite(time) ? timeOfDay(time) : ''
    const rest = Object.keys(more).length === 0 ? '' : JSON.stringify(more)
    return {
      text: [at, level, msg, rest].filter(Boolean).join(' '),
      isTrouble: ['warn', 'error', 'fatal'].includes(level),
    }
  } catch {
    return plain
  }
}
