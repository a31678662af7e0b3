export { freeBytesOnDisk } from './room.ts'
export { startSynchronizer } from './server.ts'
