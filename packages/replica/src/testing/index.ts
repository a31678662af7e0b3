// biome-ignore-all lint/performance/noBarrelFile: this is the entry point of the sub-path './testing'.
export { createMemoryOrdering, type MemoryOrdering } from './memory-ordering.ts'
export { createSeededIntegers, growRandomLog } from './random-log.ts'
