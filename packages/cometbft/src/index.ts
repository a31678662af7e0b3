export { openCometbftLog } from './cometbft-log.ts'
export type { JoinSockets } from './engine-acceptor.ts'
export { FORCE_VOTE_FILE, nodeIdOf, VOTE_STATE_FILE, voteStateAt } from './engine-files.ts'
export type { SpawnEngine } from './engine-process.ts'
