export { bytesEqual, concatBytes, fromHex, toHex, utf8 } from './bytes.ts'
export { canonicalJson, type Json } from './canonical-json.ts'
export {
  type Genesis,
  GenesisError,
  type GenesisNode,
  maxFaulty,
  parseGenesis,
  quorumOf,
} from './genesis.ts'
export type { Transport, TransportReply, TransportRequest } from './transport.ts'
