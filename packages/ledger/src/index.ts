export type { AppliedEntry, DueItem, Head, Ledger, LogEntry, Ordering } from './ports.ts'
export type { CellKey, ChangeRecord, StateDelta, StateView } from './state.ts'
