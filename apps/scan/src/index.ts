export type { Overrides } from './context.ts'
export { type RunningScan, startScan } from './start.ts'
