/**
 * Logs of the clusters of a test. Temporary files of a worker lie in its own directory, so the logs of all clusters are
 * found there. A failed run leaves only what it printed.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Of each process. */
const LINES_PRINTED_MAX = 40
/** Below the directory: `CLUSTER/logs`, or `DISK/data/logs`. */
const DEPTH_MAX = 2
/** Short, as paths of sockets are bounded. */
const PREFIX = 't-'

/** Data directories of clusters that have ended, while the test that used them may still fail. */
const ended = new Set<string>()
/** Whether a test has failed whose data directories stay. */
let isKept = false

/**
 * Until it is disposed of, temporary files of this process, and of those that it starts, are in a directory of their own,
 * which is deleted then. (Workers are ended by a signal: at their exit nothing runs.)
 */
export function keepTemporaryFilesTogether(): Disposable {
  const before = process.env['TMPDIR']
  const directory = mkdtempSync(join(tmpdir(), PREFIX))
  chmodSync(directory, 0o711) // Programs of other users find theirs in it, and nothing else.
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

/** Deletes a directory once the test that runs has printed its logs, if it fails. With `KEEP=1` those of a failure stay. */
export function deleteAfterTest(directory: string): void {
  ended.add(directory)
}

export function deleteEnded(): void {
  for (const directory of ended) rmSync(directory, { recursive: true, force: true })
  ended.clear()
}

/** The last lines that each process of each cluster has logged. With `KEEP=1`, also where its data directory stays. */
export function printLogs(): void {
  isKept ||= Boolean(process.env['KEEP'])
  for (const directory of logDirectories(tmpdir(), DEPTH_MAX)) {
    if (isKept) {
      ended.delete(dirname(directory))
      process.stdout.write(`\nkept: ${dirname(directory)}\n`)
    }
    for (const file of readdirSync(directory)) {
      const lines = readFileSync(join(directory, file), 'utf8').trimEnd().split('\n')
      process.stdout.write(`\n-- ${file}\n${lines.slice(-LINES_PRINTED_MAX).join('\n')}\n`)
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
