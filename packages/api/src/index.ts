export { CERTIFIED_MEDIA_TYPE, PAGE_SIZE_MAX } from '@quorumscan/verifier'
export { accepts } from './accepts.ts'
export { isScanAnswer } from './answer-check.ts'
export { API_VERSION } from './asyncapi.ts'
export { unitsOf } from './cost.ts'
export { exposedHeaders } from './header-groups.ts'
export { apiDocuments } from './openapi.ts'
export {
  type BodyOf,
  errorCodesOf,
  type HeadersOf,
  type LedgerRouteDef,
  type ParamsOf,
  type QueryOf,
  type ResponseOf,
  type RouteDef,
  type RouteTable,
} from './route-def.ts'
export { healthRoutes } from './routes/health.ts'
export { ledgerRoutes } from './routes/ledger.ts'
export { PARTIES_PAGE_MAX, USERS_PAGE_MAX } from './routes/ledger-users.ts'
export { scanRoutes } from './routes/scan.ts'
export { synchronizerRoutes } from './routes/synchronizer.ts'
export { validatorRoutes } from './routes/validator.ts'
export { ErrorAnswer } from './schemas/errors.ts'
export {
  CompletionsRequest,
  type JsCommand,
  type JsCommands,
  type JsCompletion,
} from './schemas/ledger/commands.ts'
export {
  COMMANDS_MAX,
  DISCLOSED_MAX,
  LEDGER_CONTRACT_ID_PATTERN,
  LEDGER_PARTY_PATTERN,
  LEDGER_STRING_PATTERN,
  PACKAGE_ID_PATTERN,
  SUBMITTERS_MAX,
  SYNCHRONIZER_ID_PATTERN,
  TAPS_PASSES_MAX,
} from './schemas/ledger/grammar.ts'
export { GetActiveContractsRequest } from './schemas/ledger/state.ts'
export type {
  LedgerPartyDetails,
  LedgerRight,
  LedgerUser,
  LedgerUserInput,
} from './schemas/ledger/users.ts'
export { codeByPattern } from './schemas/scalars.ts'
export { type Openers, socketRoutes } from './sockets.ts'
