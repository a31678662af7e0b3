/**
 * Distinguishes a process from a later one with the same pid. A pid alone is never trusted: signals go to a pid together
 * with the start time of its process.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'

/** A pid with the start time of its process. */
export type ProcessIdentity = { readonly pid: number; readonly startedAt: string }

/** `stopped`: paused by SIGSTOP. */
export type ProcessState = 'running' | 'stopped' | 'gone'

type Observation = { readonly state: ProcessState; readonly startedAt: string }

const NOT_RUNNING: Observation = { state: 'gone', startedAt: '' }
const isLinux = process.platform === 'linux'
const readProcess = isLinux ? readProc : readPs
const bootId = isLinux ? readText('/proc/sys/kernel/random/boot_id').trim() : ''

/** Null if no such process runs. */
export function identityOf(pid: number): ProcessIdentity | null {
  const found = readProcess(pid)
  return found.state === 'gone' ? null : { pid, startedAt: found.startedAt }
}

/** `stopped`: the process received SIGSTOP. A zombie is gone. */
export function stateOf(identity: ProcessIdentity): ProcessState {
  const found = readProcess(identity.pid)
  return found.startedAt === identity.startedAt ? found.state : 'gone'
}

/** A process together with the group that it leads, or the process alone. */
export type SignalScope = 'group' | 'process'

/** Does nothing if the process is gone. */
export function signalProcess(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  scope: SignalScope = 'group',
): void {
  for (const pid of scope === 'group' ? [-identity.pid, identity.pid] : [identity.pid]) {
    if (stateOf(identity) === 'gone') return
    try {
      process.kill(pid, signal)
    } catch {
      // It leads no group, or exited between the check and the signal.
    }
  }
}

/**
 * Processes of this user whose environment has this variable with the path of this directory. Linux only (elsewhere none).
 * Also finds processes that were started just before a crash, and so are not recorded. A process that sees another
 * directory at that path, such as one of another container, is not found.
 */
export function findByDirectory(name: string, path: string): ProcessIdentity[] {
  if (!isLinux) return []
  const wanted = `${name}=${path}`
  const directory = directoryAt(path)
  return readdirSync('/proc')
    .filter((entry) => /^[0-9]+$/.test(entry) && Number(entry) !== process.pid)
    .filter((entry) => readText(`/proc/${entry}/environ`).split('\0').includes(wanted))
    .filter((entry) => directoryAt(`/proc/${entry}/root${path}`) === directory)
    .flatMap((entry) => identityOf(Number(entry)) ?? [])
}

/** Equal for equal directories. Null: it does not exist, or this user may not look. */
function directoryAt(path: string): string | null {
  try {
    const { dev, ino } = statSync(path)
    return `${dev}:${ino}`
  } catch {
    return null
  }
}

/** The process that leads the group of a process. Linux only (elsewhere null). */
export function leaderOf(pid: number): number | null {
  const group = statFields(pid)[2]
  return group === undefined ? null : Number(group)
}

function readProc(pid: number): Observation {
  const fields = statFields(pid)
  const startTicks = fields[19]
  if (startTicks === undefined) return NOT_RUNNING
  // Ticks count from the boot: the id of the boot makes them unique.
  return { state: stateOfLetter(fields[0] ?? ''), startedAt: `${startTicks}@${bootId}` }
}

/** The fields of `/proc/<pid>/stat` from the state on. */
function statFields(pid: number): readonly string[] {
  const stat = readText(`/proc/${pid}/stat`)
  // pid (command) state …: the command may hold anything, so count from the last parenthesis.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function readPs(pid: number): Observation {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]).toString()
    const [letters = '', ...started] = line.trim().split(/\s+/)
    return { state: stateOfLetter(letters.charAt(0)), startedAt: started.join(' ') }
  } catch {
    // ps exits with 1 when no such process runs.
    return NOT_RUNNING
  }
}

function stateOfLetter(letter: string): ProcessState {
  if (letter === 'T' || letter === 't') return 'stopped'
  return letter === 'Z' || letter === 'X' || letter === '' ? 'gone' : 'running'
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process is gone, or belongs to another user.
    return ''
  }
}
