// Re-exports clients of other projects without their types, which do not compile under nodenext.
// biome-ignore lint/performance/noBarrelFile: it replaces their types by ours.
export { awaitCompletion, isJsCantonError, LedgerClient } from '@canton-network/core-ledger-client'
export { SDK } from '@canton-network/wallet-sdk'
