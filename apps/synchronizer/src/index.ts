export type { Overrides } from './context.ts'
export { freeBytesOnDisk } from './disk-space.ts'
export { type RunningSynchronizer, startSynchronizer } from './start.ts'
