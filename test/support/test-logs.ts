/**
 * Logs of the clusters of a test. Each worker has its own directory for temporary files, with the logs of all
 * its clusters. After a failed run only the printed logs remain.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { excerptOf } from './log-excerpt.ts'

/** Depth of log directories: `CLUSTER/logs` or `DISK/data/logs`. */
const DEPTH_MAX = 2
/** Short, because the length of socket paths is limited. */
const PREFIX = 't-'

/** Data directories of clusters that have ended, while the test that used them may still fail. */
const ended = new Set<string>()
/** Directories of logs that were printed for the current test. */
const printed = new Set<string>()
/** Whether a test has failed whose data directories stay. */
let isKept = false

/**
 * Collects the temporary files of this process and its children in one directory, and deletes it on disposal. (vitest
 * ends workers with a signal, so that an exit handler does not run.)
 */
export function keepTemporaryFilesTogether(): Disposable {
  const before = process.env['TMPDIR']
  const directory = mkdtempSync(join(tmpdir(), PREFIX))
  chmodSync(directory, 0o711) // Other users can enter their directories in it, but not list it.
  process.env['TMPDIR'] = directory
  return {
    [Symbol.dispose]() {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
      ended.clear()
      if (!isKept) rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
      isKept = false
    },
  }
}

/**
 * Deletes a directory after the current test, once its logs are printed if it fails. With `KEEP=1`, the directories of a
 * failed test are kept.
 */
export function deleteAfterTest(directory: string): void {
  ended.add(directory)
}

export function deleteEnded(): void {
  for (const directory of ended) rmSync(directory, { recursive: true, force: true })
  ended.clear()
  printed.clear()
}

/**
 * Prints an excerpt of the log of each process of each cluster and, with `KEEP=1`, the path of its data directory. Of one
 * test it prints each once, when that is called first: a cluster that does not start fails the test, too.
 */
export function printLogs(): void {
  isKept ||= Boolean(process.env['KEEP'])
  for (const directory of logDirectories(tmpdir(), DEPTH_MAX)) {
    if (printed.has(directory)) continue
    printed.add(directory)
    if (isKept) {
      ended.delete(dirname(directory))
      process.stdout.write(`\nkept: ${dirname(directory)}\n`)
    }
    for (const file of readdirSync(directory)) {
      const log = readFileSync(join(directory, file), 'utf8')
      process.stdout.write(`\n-- ${file}\n${excerptOf(log)}\n`)
    }
  }
}

function logDirectories(directory: string, depth: number): readonly string[] {
  const below = readdirSync(directory, { withFileTypes: true }).filter((one) => one.isDirectory())
  return below.flatMap(({ name }) => {
    const path = join(directory, name)
    if (name === 'logs') return [path]
    return depth === 0 ? [] : logDirectories(path, depth - 1)
  })
}
