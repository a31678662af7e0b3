export { CERTIFIED_MEDIA_TYPE, PAGE_SIZE_MAX } from '@quorumscan/verifier'
export { accepts } from './accepts.ts'
export { isScanAnswer } from './answer-check.ts'
export { API_VERSION } from './asyncapi.ts'
export { COST_LOOKUP, PAGE_SIZE_DEFAULT, unitsOf } from './cost.ts'
export { exposedHeaders } from './header-groups.ts'
export { apiDocuments } from './openapi.ts'
export { patternSentence } from './pattern-sentences.ts'
export * from './route-def.ts'
export { healthRoutes } from './routes/health.ts'
export { ledgerRoutes, refusedLedgerOperations } from './routes/ledger.ts'
export { PARTIES_PAGE_MAX, USERS_PAGE_MAX } from './routes/ledger-users.ts'
export { scanRoutes } from './routes/scan.ts'
export { synchronizerRoutes } from './routes/synchronizer.ts'
export { validatorRoutes } from './routes/validator.ts'
export { ErrorAnswer } from './schemas/errors.ts'
export {
  type CommandCompletionsRequest,
  CompletionsRequest,
  type JsCommand,
  type JsCommands,
  type JsCompletion,
} from './schemas/ledger/commands.ts'
export * from './schemas/ledger/grammar.ts'
export { PACKAGE_NAMES_MAX, VETTED_PAGE_MAX } from './schemas/ledger/packages.ts'
export { GetActiveContractsRequest, QUERYING_PARTIES_MAX } from './schemas/ledger/state.ts'
export {
  TREE_PARTIES_MAX,
  UPDATES_PAGE_DEFAULT,
  UPDATES_PAGE_MAX,
} from './schemas/ledger/updates.ts'
export {
  type LedgerPartyDetails,
  type LedgerRight,
  type LedgerUser,
  type LedgerUserInput,
  PARTY_MASK_PATHS,
  USER_MASK_PATHS,
} from './schemas/ledger/users.ts'
export { codeByPattern } from './schemas/scalars.ts'
export { type Openers, socketRoutes } from './sockets.ts'
export { validatorOf } from './validator-of.ts'
