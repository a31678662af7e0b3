/** The paths in the data directory of a cluster or of one operator. */
import { join, resolve } from 'node:path'

export type DataDirectory = ReturnType<typeof dataDirectory>

/** Paths below `root`; touches nothing. */
export function dataDirectory(root: string) {
  const path = resolve(root)
  return {
    path,
    /** The size and ports of the cluster, chosen at the first `up`. */
    clusterFile: join(path, 'cluster.json'),
    genesisFile: join(path, 'genesis.json'),
    /** The address of the running control plane. The file is absent while none runs. */
    controlFile: join(path, 'control.json'),
    /** The record of running processes, and the mark that each carries. The next supervisor finds leftovers by them. */
    processes: { recordFile: join(path, 'processes.json'), marker: path },
    /** The path of the directory for unix sockets, which is elsewhere because their paths must be short. */
    socketsFile: join(path, 'sockets.json'),
    /** The member file, for the other operators. */
    memberFile: (name: string) => join(path, `${name}.member.json`),
    /** What follows from the member files, for the processes of the operator. */
    peersFile: join(path, 'peers.env'),
    keyFile: (name: string) => join(path, 'keys', name),
    secretFile: (name: string) => join(path, 'secrets', name),
    /** The directory of a member's engine: its blocks, and its record of signed votes. */
    engineDirectory: (name: string) => join(path, 'engines', name),
    /** The snapshots of the state that a node stores for others. */
    snapshotDirectory: (name: string) => join(path, 'snapshots', name),
    redisDirectory: (name: string) => join(path, 'redis', name),
    logFile: (name: string) => join(path, 'logs', `${name}.log`),
  }
}
