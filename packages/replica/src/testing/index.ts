// biome-ignore-all lint/performance/noBarrelFile: this is the entry point of the sub-path './testing'.
export { createStateHistory, type StateHistory } from '../state-tree/state-history.ts'
export type { EntryFields } from './entry-steps.ts'
export { fillNames } from './fill-names.ts'
export { createMemoryOrdering, type MemoryOrdering } from './memory-ordering.ts'
export { type NaiveState, naiveStates } from './naive-state.ts'
export { growRandomLog } from './random-log.ts'
