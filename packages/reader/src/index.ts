export { activitiesBytesMax, entriesBytesMax, scansBytesMax } from './answers/answer-sizes.ts'
export { parseJson, readRefusal } from './answers/reply.ts'
export { createFloor, type Floor } from './floor.ts'
export {
  type AddressStore,
  type FloorStore,
  type NodeReply,
  type NodeStatus,
  type Reader,
  type ReaderClock,
  ReaderError,
  type ReaderErrorCode,
  type ReaderOptions,
  type ReaderStatus,
  type ReadRequest,
} from './reader-options.ts'
export type { AddressRecord } from './source/address-book.ts'
export { createBodyPieces } from './source/body-pieces.ts'
export { fetchGenesis, type SeedAnswer } from './source/fetch-genesis.ts'
export { createFetchTransport, readAtMost } from './source/fetch-transport.ts'
export { isAuthenticated, parseNodeUrl } from './source/node-url.ts'
export {
  PrivateAddressError,
  type Transport,
  type TransportReply,
  type TransportRequest,
} from './source/transport.ts'
export { DECISIONS, type Decisions } from './votes/decisions.ts'
export type { Fork } from './votes/histories.ts'
export {
  type Decided,
  type Disputed,
  type Insufficient,
  isDecided,
  type Lagging,
  type Outcome,
  type Participation,
  type ReadOptions,
  type VoteGroup,
} from './votes/outcome.ts'
