/** Where the running control plane of a data directory is, so that commands find it. */
import { rmSync } from 'node:fs'
import type { DataDirectory } from '@quorumscan/operator'
import { isErrno, readOwnJson, readSecret, writeOwnJson } from '@quorumscan/runtime'
import { identityOf, type ProcessIdentity, stateOf } from '@quorumscan/supervisor'

export type ControlFile = { readonly url: string; readonly process: ProcessIdentity }

/** The control plane that runs now, or null. One that died does not count. */
export function readControlFile(directory: DataDirectory): ControlFile | null {
  const file = readOwnJson(directory.controlFile) as ControlFile | null
  return file !== null && stateOf(file.process) !== 'gone' ? file : null
}

/** The control plane that died without having stopped its cluster, or null. */
export function readDeadControl(directory: DataDirectory): ControlFile | null {
  const file = readOwnJson(directory.controlFile) as ControlFile | null
  return file !== null && stateOf(file.process) === 'gone' ? file : null
}

/** Says that this process is the control plane, at this address. */
export function writeControlFile(directory: DataDirectory, url: string): void {
  const file: ControlFile = { url, process: identityOf(process.pid) ?? { pid: 0, startedAt: '' } }
  writeOwnJson(directory.controlFile, file)
}

/** As `writeControlFile`; where the disk is full, or the directory read-only, it is tried again later. */
export function tryToWriteControlFile(directory: DataDirectory, url: string): void {
  try {
    writeControlFile(directory, url)
  } catch {
    // The caller comes again.
  }
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
