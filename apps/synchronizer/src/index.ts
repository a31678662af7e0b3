export { nodeIdOf, VOTE_STATE_FILE, voteStateAt } from './cometbft/engine-files.ts'
export { envToConfig, type SynchronizerConfig } from './config.ts'
export type { Overrides } from './context.ts'
export { type RunningSynchronizer, startSynchronizer } from './start.ts'
