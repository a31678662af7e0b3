/** A mirror as a process, from the command line. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ROOT } from '../support/root.ts'

const BIN = join(ROOT, 'apps/cli/bin/quorumscan.mjs')

/** Disposing kills it. */
export async function startMirror(sources: readonly string[]) {
  const args = [BIN, 'mirror', ...sources, '--port', '0', '--json']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(([status]) => {
    throw new Error(`the mirror ended with status ${status}`)
  })
  ended.catch(() => {}) // It is also killed.
  const [line] = await Promise.race([once(child.stdout, 'data'), ended])
  return {
    url: String(JSON.parse(String(line)).url),
    pid: child.pid ?? 0,
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}
