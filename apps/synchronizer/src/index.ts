export { freeBytesOnDisk } from './disk-space.ts'
export { startSynchronizer } from './server.ts'
