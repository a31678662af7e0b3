import { clockTime } from './time.ts'

/** A line of a log file in readable form, and whether it reports a problem. */
export function logLineOf(line: string): { readonly text: string; readonly isTrouble: boolean } {
  const plain = { text: line, isTrouble: /\b(error|fatal)\b/i.test(line) }
  if (!line.startsWith('{')) return plain
  try {
    const { level, time, msg, pid, hostname, name, ...more } = JSON.parse(line)
    const rest = Object.keys(more).length === 0 ? '' : JSON.stringify(more)
    const text = [clockTime(time), level, msg, rest].filter(Boolean).join(' ')
    return { text, isTrouble: ['warn', 'error', 'fatal'].includes(level) }
  } catch {
    return plain
  }
}
