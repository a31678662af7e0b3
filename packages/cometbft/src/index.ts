export { openCometbftLog } from './cometbft-log.ts'
export type { JoinSockets } from './engine-acceptor.ts'
export { nodeIdOf, VOTE_ANYWAY_FILE, VOTE_STATE_FILE, voteStateAt } from './engine-files.ts'
export type { SpawnEngine } from './engine-process.ts'
