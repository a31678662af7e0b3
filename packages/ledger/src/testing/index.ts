// biome-ignore-all lint/performance/noBarrelFile: this is the entry point of the sub-path './testing'.
export { MemoryLedger, type SubmitOptions } from './memory-ledger.ts'
export * from './plain-model.ts'
export {
  encodeRecordedLog,
  type RecordedLog,
  readRecordedLog,
  recordedLogPath,
} from './recorded-log.ts'
export { type Actor, amountOf, outcomeOf, resultOf, Scenario } from './scenario.ts'
export { createEntrySigner, submissionOf } from './submissions.ts'
