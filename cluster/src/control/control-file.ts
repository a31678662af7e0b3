/** Where the running control plane of a data directory is, so that commands find it. */
import { rmSync } from 'node:fs'
import type { DataDirectory } from '@quorumscan/operator'
import { isErrno, readOwnJson, readSecret, writeOwnJson } from '@quorumscan/runtime'
import { identityOf, type ProcessIdentity, runningRecorded, stateOf } from '@quorumscan/supervisor'

export type ControlFile = { readonly url: string; readonly process: ProcessIdentity }

/** The control plane that runs now, or null. One that died does not count. */
export function readControlFile(directory: DataDirectory): ControlFile | null {
  return readFile(directory, ({ process }) => stateOf(process) !== 'gone')
}

/** The control plane that died without having stopped its cluster, or null. */
export function readDeadControl(directory: DataDirectory): ControlFile | null {
  return readFile(directory, ({ process }) => stateOf(process) === 'gone')
}

function readFile(
  directory: DataDirectory,
  isWanted: (file: ControlFile) => boolean,
): ControlFile | null {
  const file = readOwnJson(directory.controlFile) as ControlFile | null
  return file !== null && isWanted(file) ? file : null
}

/** Says that this process is the control plane, at this address. */
export function writeControlFile(directory: DataDirectory, url: string): void {
  const file: ControlFile = { url, process: identityOf(process.pid) ?? { pid: 0, startedAt: '' } }
  writeOwnJson(directory.controlFile, file)
}

export function removeControlFile(directory: DataDirectory): void {
  rmSync(directory.controlFile, { force: true })
}

/** The token that the control plane of this directory wants; '' before the first `up`. */
export function readControlToken(directory: DataDirectory): string {
  try {
    return readSecret(directory.secretFile('control'))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return ''
    throw error
  }
}

/** The end of a sentence about a control plane that died or hangs. Asks nobody. */
export function describeRemains(directory: DataDirectory): string {
  const ids = runningRecorded(directory.processes.recordFile)
  if (ids.length === 0) return 'nothing of its cluster runs'
  const count =
    ids.length === 1
      ? 'one process of its cluster runs'
      : `${ids.length} processes of its cluster run`
  return `${count} on: ${ids.join(', ')}`
}
