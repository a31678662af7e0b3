export {
  type Activity,
  type ActivityRow,
  activityRowsOf,
  type TransferActivity,
} from './activities.ts'
export { cellName } from './cells.ts'
export * from './commands.ts'
export { type ContractCodec, createContractCodec, type FiledContract } from './contract-codec.ts'
export {
  contractBlob,
  contractIdOf,
  type DisclosedBlob,
  disclose,
  isBlobOf,
  readBlob,
  toWireContract,
  updateIdOf,
  type WireContract,
} from './contract-id.ts'
export {
  type AmountEntry,
  amountKey,
  amountsOf,
  dueOf,
  keysOf,
  partyKey,
  stakeholdersOf,
} from './contract-keys.ts'
export * from './entry.ts'
export { unitsOfBytes, unitsOfContracts } from './entry-units.ts'
export { genesisDelta, svPartyOf } from './genesis-state.ts'
export { growthOf } from './growth.ts'
export { encodeResult, nextHistoryHash } from './history.ts'
export { formatEventId, HISTORY_STEPS, type HistoryStep, isNoticeId } from './history-rows.ts'
export { holdingViewOf, implementsHolding } from './holding-view.ts'
export { type Interpretation, type InterpretInput, interpret } from './interpret.ts'
export { type Lf, LfError, type LfValue } from './lf.ts'
export { toLfJson } from './lf-json.ts'
export {
  ENTRY_BYTES_MAX,
  OPEN_OFFERS_MAX,
  PAYMENTS_IN_FLIGHT_MAX,
  TRANSFER_INPUTS_MAX,
} from './limits.ts'
export { type Notice, type NoticeRow, noticeRowsOf } from './notices.ts'
export * from './ports.ts'
export { type Protocol, readProtocol } from './protocol.ts'
export { errorCodeOf, type RejectionCode } from './refusal.ts'
export {
  type AnyChoice,
  choicesOf,
  findChoice,
  findTemplate,
  HOLDING_INTERFACE,
  type PackageInfo,
  packages,
  payloadOf,
  templateIdOf,
  templateOf,
  templates,
} from './registry.ts'
export { KNOWN_RULES, NEWEST_RULES, type Rules, rulesOf, unknownVersion } from './rules.ts'
export type { CellKey, ChangeRecord, KeptChange, StateDelta, StateView } from './state.ts'
export { addsToState, changeIdOf, countContracts } from './submission-facts.ts'
export {
  type Choice,
  encodePayload,
  isOf,
  type PackageName,
  type Template,
  templateRef,
} from './template.ts'
export { ansEntry } from './templates/ans-entry.ts'
export { ansEntryContext } from './templates/ans-entry-context.ts'
export { ansRules } from './templates/ans-rules.ts'
export { type CoinPayload, coin } from './templates/coin.ts'
export { coinRules } from './templates/coin-rules.ts'
export { confirmation } from './templates/confirmation.ts'
export { blockVersionAt, type DsoRulesPayload, dsoRules } from './templates/dso-rules.ts'
export { lockedCoin } from './templates/locked-coin.ts'
export { openMiningRound } from './templates/open-mining-round.ts'
export { scanAddress } from './templates/scan-address.ts'
export type {
  AnsRulesConfig,
  SubscriptionData,
  SubscriptionPayData,
  SvInfo,
} from './templates/shared.ts'
export { subscription } from './templates/subscription.ts'
export { subscriptionIdleState } from './templates/subscription-idle-state.ts'
export { subscriptionInitialPayment } from './templates/subscription-initial-payment.ts'
export { subscriptionPayment } from './templates/subscription-payment.ts'
export { subscriptionRequest } from './templates/subscription-request.ts'
export { terminatedSubscription } from './templates/terminated-subscription.ts'
export { transferInstruction } from './templates/transfer-instruction.ts'
export { readValueInput, ValueInputError } from './value-input.ts'
export { type LoadedCell, WorkingState } from './working-state.ts'
export { isZonedTime, parseZonedTime } from './zoned-time.ts'
