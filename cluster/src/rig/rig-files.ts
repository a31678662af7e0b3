/** What the rig itself stores in the data directory of a cluster. */
import { join } from 'node:path'
import type { DataDirectory } from '@quorumscan/operator'

/** The faults in force. */
export function faultsFileOf({ path }: Pick<DataDirectory, 'path'>): string {
  return join(path, 'faults.json')
}

/** The files of each chaos run are in a directory of its own below. */
export function chaosDirectoryOf({ path }: Pick<DataDirectory, 'path'>): string {
  return join(path, 'chaos')
}
