/** The record of the running control plane of a data directory, by which commands find it. */
import { existsSync, rmSync } from 'node:fs'
import type { DataDirectory } from '@quorumscan/operator'
import { readOwnJson, readSecret, writeOwnJson } from '@quorumscan/runtime'
import { identityOf, type ProcessIdentity, runningIn, stateOf } from '@quorumscan/supervisor'

export type ControlFile = { readonly url: string; readonly process: ProcessIdentity }

/** The control plane that runs now, or with `hasCrashed` the one that crashed without stopping its cluster; or null. */
export function readControlFile(directory: DataDirectory, hasCrashed = false): ControlFile | null {
  const file = readOwnJson(directory.controlFile) as ControlFile | null
  return file !== null && (stateOf(file.process) === 'gone') === hasCrashed ? file : null
}

/** Records this process as the control plane. */
export function writeControlFile(directory: DataDirectory, url: string): void {
  const file: ControlFile = { url, process: identityOf(process.pid) ?? { pid: 0, startedAt: '' } }
  writeOwnJson(directory.controlFile, file)
}

export function removeControlFile(directory: DataDirectory): void {
  rmSync(directory.controlFile, { force: true })
}

/** The token of the control plane of this directory; '' before the first `up`. */
export function readControlToken(directory: DataDirectory): string {
  const file = directory.secretFile('control')
  return existsSync(file) ? readSecret(file) : ''
}

/** The processes of a control plane that crashed or hangs, for the end of a sentence. Sends no request. */
export function describeRemains(directory: DataDirectory): string {
  const ids = runningIn(directory.processes.recordFile).map(({ id }) => id)
  return ids.length === 0
    ? 'none of its processes runs'
    : `${ids.length} of its processes still run: ${ids.join(', ')}`
}
