export { freeBytesOnDisk } from './disk-space.ts'
export { type Overrides, type RunningSynchronizer, startSynchronizer } from './start.ts'
