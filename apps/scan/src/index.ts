export { type RunningScan, startScan } from './start.ts'
