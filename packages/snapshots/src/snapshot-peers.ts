/** Snapshots of other nodes: what they list, and the content of one, piece by piece from whoever has it. */
import { type ClientTls, type Clock, sha256Hex, within } from '@quorumscan/base'
import type { Peer } from '@quorumscan/runtime'
import { createUndiciTransport } from '@quorumscan/runtime'
import {
  keyOfOffer,
  MANIFEST_BYTES_MAX,
  type Manifest,
  type Network,
  PIECE_BYTES,
  readManifest,
  readOffers,
  type SnapshotOffer,
} from './snapshot-offer.ts'

/** A node that hangs keeps an empty replica, and the trimming of the log, waiting no longer. */
const LIST_MS_MAX = 2_000
/** Three snapshots with the signatures of a hundred members. */
const LIST_BYTES_MAX = 128 * 1024
/** A mebibyte over a line of a megabit a second. */
const PIECE_MS_MAX = 20_000
/** Asked for ahead, each at the next of those who have it. */
const PIECES_AHEAD = 4

/** A snapshot with all signatures that are told of it, by whomever, and who lists it. */
export type ListedSnapshot = SnapshotOffer & { readonly holders: readonly Peer[] }

const NOBODY = { holders: [], signatures: new Map<string, string>() }

export type SnapshotPeers = AsyncDisposable & {
  /** Those of all nodes that answer, the newest first. */
  list(signal: AbortSignal): Promise<readonly ListedSnapshot[]>
  /**
   * The content of a snapshot, each piece held against the hash that was signed.
   *
   * @throws {Error} If nobody of the holders gives a piece.
   */
  content(listed: ListedSnapshot, signal: AbortSignal): AsyncGenerator<Uint8Array>
}

export function createSnapshotPeers(options: {
  readonly peers: readonly Peer[]
  readonly network: Network
  /** Tokens that this process has with nodes, by their origins. */
  readonly peerTokenByOrigin?: ReadonlyMap<string, string>
  readonly trust?: ClientTls | null
  readonly clock: Clock
  readonly onProblem: (error: unknown, peer: Peer) => void
}): SnapshotPeers {
  const { peers, network, clock, onProblem, peerTokenByOrigin = new Map(), trust = null } = options
  const transport = createUndiciTransport({ peerTokenByOrigin, trust })

  const get = async (
    peer: Peer,
    path: string,
    bounds: { readonly timeoutMs: number; readonly bytesMax: number; readonly signal: AbortSignal },
  ): Promise<Uint8Array> => {
    const { timeoutMs, bytesMax, signal } = bounds
    const ask = (signal: AbortSignal) =>
      transport.request({
        url: peer.url,
        ...{ method: 'GET', path, headers: {}, body: null, bytesMax, signal },
        channel: 'bulk',
        isPublicOnly: false, // Peers are configured by the operator.
      })
    const reply = await within({ clock, timeoutMs, signal }, ask, () => {
      throw new Error('no answer')
    })
    if (reply.status !== 200) throw new Error(`status ${reply.status}`)
    return reply.body
  }

  const manifestOf = async (
    { offset, contentHash, holders }: ListedSnapshot,
    signal: AbortSignal,
  ): Promise<Manifest> => {
    for (const holder of holders)
      try {
        const bounds = { timeoutMs: PIECE_MS_MAX, bytesMax: MANIFEST_BYTES_MAX, signal }
        const bytes = await get(holder, `/v0/snapshots/${offset}/manifest`, bounds)
        const manifest = readManifest(bytes, contentHash)
        if (manifest !== null) return manifest
        throw new Error('the manifest is not the one that was signed')
      } catch (error) {
        signal.throwIfAborted()
        onProblem(error, holder)
      }
    throw new Error(`nobody has the snapshot of offset ${offset}`)
  }

  return {
    async list(signal) {
      const listedByKey = new Map<string, ListedSnapshot>()
      const ask = async (peer: Peer) => {
        try {
          const bounds = { timeoutMs: LIST_MS_MAX, bytesMax: LIST_BYTES_MAX, signal }
          for (const offer of readOffers(await get(peer, '/v0/snapshots', bounds), network)) {
            const { holders, signatures } = listedByKey.get(keyOfOffer(offer)) ?? NOBODY
            listedByKey.set(keyOfOffer(offer), {
              ...offer,
              signatures: new Map([...signatures, ...offer.signatures]),
              holders: [...holders.filter((holder) => holder !== peer), peer],
            })
          }
        } catch (error) {
          signal.throwIfAborted()
          onProblem(error, peer)
        }
      }
      await Promise.all(peers.map(ask))
      return [...listedByKey.values()].sort((a, b) => b.offset - a.offset)
    },
    async *content(listed, signal) {
      const { offset, holders } = listed
      const { pieceHashes } = await manifestOf(listed, signal)
      /** Who gave something else, or nothing, is asked no more. */
      const failed = new Set<Peer>()
      const pieceOf = async (index: number): Promise<Uint8Array> => {
        for (let turn = 0; turn < holders.length; turn++) {
          const holder = holders[(index + turn) % holders.length]
          if (holder === undefined || failed.has(holder)) continue
          try {
            const path = `/v0/snapshots/${offset}/pieces/${index}`
            const bounds = { timeoutMs: PIECE_MS_MAX, bytesMax: PIECE_BYTES, signal }
            const bytes = await get(holder, path, bounds)
            if (sha256Hex(bytes) === pieceHashes[index]) return bytes
            throw new Error(`piece ${index} is not what was signed`)
          } catch (error) {
            signal.throwIfAborted()
            failed.add(holder)
            onProblem(error, holder)
          }
        }
        throw new Error(`nobody gives piece ${index} of the snapshot of offset ${offset}`)
      }
      const ahead: Promise<Uint8Array>[] = []
      let next = 0
      for (let index = 0; index < pieceHashes.length; index++) {
        while (next < pieceHashes.length && ahead.length < PIECES_AHEAD) {
          const piece = pieceOf(next++)
          piece.catch(() => {}) // Told where it is waited for.
          ahead.push(piece)
        }
        yield (await ahead.shift()) as Uint8Array
      }
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}
