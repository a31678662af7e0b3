/** The paths in the data directory of a cluster or of one operator. */
import { join, resolve } from 'node:path'

export type DataDirectory = ReturnType<typeof dataDirectory>

/** Paths below `root`; touches nothing. */
export function dataDirectory(root: string) {
  const path = resolve(root)
  return {
    path,
    /** What was decided at the first `up`: size and ports. */
    clusterFile: join(path, 'cluster.json'),
    genesisFile: join(path, 'genesis.json'),
    /** Where the running control plane answers; absent while none runs. */
    controlFile: join(path, 'control.json'),
    /** Where running processes are recorded, and the mark that each carries: the next supervisor ends leftovers by them. */
    processes: { recordFile: join(path, 'processes.json'), marker: path },
    /** Where the unix sockets of the running cluster are: outside, because their paths must be short. */
    socketsFile: join(path, 'sockets.json'),
    /** The faults in force. */
    faultsFile: join(path, 'faults.json'),
    /** The files of each chaos run are in a directory of its own below. */
    chaosDirectory: join(path, 'chaos'),
    /** The member file, for the other operators. */
    memberFile: (name: string) => join(path, `${name}.member.json`),
    keyFile: (name: string) => join(path, 'keys', name),
    secretFile: (name: string) => join(path, 'secrets', name),
    /** Of a member's engine: its blocks, and what it has signed. */
    engineDirectory: (name: string) => join(path, 'engines', name),
    /** Of the state, as a node keeps them for others. */
    snapshotDirectory: (name: string) => join(path, 'snapshots', name),
    redisDirectory: (name: string) => join(path, 'redis', name),
    logFile: (name: string) => join(path, 'logs', `${name}.log`),
  }
}
