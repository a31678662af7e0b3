export { freeBytesOnDisk } from './disk-space.ts'
export { type Overrides, startSynchronizer } from './server.ts'
