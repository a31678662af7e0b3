/** What readers of every kind share. All exports of the files named by `*` are public. */
export { activitiesBytesMax, entriesBytesMax, scansBytesMax } from './answers/answer-sizes.ts'
export { parseJson, readRefusal } from './answers/reply.ts'
export * from './reader-options.ts'
export type { AddressRecord } from './source/address-book.ts'
export { askAll } from './source/ask-all.ts'
export { BodyTooLargeError, createBodyPieces } from './source/body-pieces.ts'
export { fetchGenesis, GENESIS_BYTES_MAX, type SeedAnswer } from './source/fetch-genesis.ts'
export { assertNoRedirect, createFetchTransport, readAtMost } from './source/fetch-transport.ts'
export { platformResolver, type ResolveHost, resolveMachines } from './source/machines.ts'
export {
  isAuthenticated,
  machineOf,
  parseNodeUrl,
  shownUrl,
  urlProblem,
} from './source/node-url.ts'
export { HEDGE_MS_MAX } from './source/source.ts'
export {
  PrivateAddressError,
  type Transport,
  type TransportReply,
  type TransportRequest,
} from './source/transport.ts'
export type { Fork } from './votes/histories.ts'
export * from './votes/read-outcome.ts'
export { type Ballot, castVote, createBallot, withdrawVote } from './votes/tally.ts'
