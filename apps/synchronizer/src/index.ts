export {
  nodeIdOf,
  VOTE_ANYWAY_FILE,
  VOTE_STATE_FILE,
  voteStateAt,
} from './cometbft/engine-files.ts'
export type { SpawnEngine } from './cometbft/engine-process.ts'

export type { Overrides } from './context.ts'
export { freeBytesOnDisk } from './disk-space.ts'
export { type RunningSynchronizer, startSynchronizer } from './start.ts'
