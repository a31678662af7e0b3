/** What several commands share: parsing of numbers, and the ways to the terminal. */
import type { Clock } from '@quorumscan/base'
import { InvalidArgumentError } from 'commander'

export function integer(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text)
    if (/^[0-9]+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It is an integer from ${min} to ${max}.`)
  }
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Longer than this, and a person wonders. */
const QUIET_MS = 700

/** Says on stderr what it waits for, if it takes that long. */
export async function slowly<T>(
  sentence: string,
  clock: Clock,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  clock.delay(QUIET_MS, over.signal).then(
    () => process.stderr.write(`${sentence} …\n`),
    () => {}, // Done before.
  )
  try {
    return await work()
  } finally {
    over.abort()
  }
}
