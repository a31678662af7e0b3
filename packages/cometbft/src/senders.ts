/**
 * How much of this member's time each sender of bundles may take. A sender is the engine whose key signed the bundle; all
 * bundles that nobody signed, or an engine that this member does not know, count as one sender.
 */
import { toHex } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import { priceOfBytes } from '@quorumscan/ledger'
import type { EntryRefusal } from '@quorumscan/log'
import { LRUCache } from 'lru-cache'
import { type Bundle, isBundleSigned } from './bundles.ts'
import { nodeIdOf } from './engine-files.ts'

/**
 * Takes units from what the sender has; null is the sender of all that no known engine signed.
 *
 * @throws {ScanError} RATE_LIMITED, if it is in debt.
 */
export type ChargeSender = (nodeId: string | null, units: number) => void

/** Bundles that are paid for: a member can send those of another one again, and must not use up what that one has. */
const PAID_MAX = 10_000
const NOT_SIGNED: EntryRefusal = {
  code: 'INVALID_ARGUMENT',
  message: 'the engine that the bundle names did not sign it',
}

export function createSenders(options: {
  readonly genesisHash: string
  /** Of the own engine, whose bundles cost nothing: their entries have been paid for. */
  readonly ownId: string
  readonly isPeer: (nodeId: string) => boolean
  readonly charge: ChargeSender
}) {
  const { genesisHash, ownId, isPeer, charge } = options
  const paid = new LRUCache<string, true>({ max: PAID_MAX })
  return {
    /** Why this member does not look into the bundle, or null: then its sender has paid. */
    admit({ entries, seal }: Bundle): EntryRefusal | null {
      const nodeId = seal === null ? null : nodeIdOf(seal.publicKey)
      const sender = nodeId !== null && (nodeId === ownId || isPeer(nodeId)) ? nodeId : null
      const key = seal === null || sender === null ? null : sender + toHex(seal.contentHash)
      if (key !== null && paid.has(key)) return null
      try {
        // A sender that is in debt does not even have its signature verified.
        if (sender !== ownId) charge(sender, 0)
        if (seal !== null && sender !== null && !isBundleSigned(seal, genesisHash))
          return NOT_SIGNED
        const units = entries.reduce((sum, { byteLength }) => sum + priceOfBytes(byteLength), 0)
        if (sender !== ownId) charge(sender, units)
        if (key !== null) paid.set(key, true)
        return null
      } catch (error) {
        if (isScanError(error)) return error
        throw error
      }
    },
  }
}

export type Senders = ReturnType<typeof createSenders>
