export { type Overrides, type RunningScan, startScan } from './start.ts'
