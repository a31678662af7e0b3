/** Snapshots of other nodes: what they list, and the content of one, piece by piece from whoever has it. */
import { sha256Hex } from '@quorumscan/base'
import type { Peer, PeerClient, PeerRequest } from '@quorumscan/runtime'
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

/** A node that hangs delays an empty replica, and the trimming of the log, no longer than that. */
const LIST_MS_MAX = 2_000
/** Three snapshots with the signatures of a hundred members. */
const LIST_BYTES_MAX = 128 * 1024
/** A mebibyte over a line of a megabit a second. */
const PIECE_MS_MAX = 20_000
/** Asked for ahead, each at the next of those who have it. */
const PIECES_AHEAD = 4

/** A snapshot with all signatures that are told of it, by whomever, and who lists it. */
export type ListedSnapshot = SnapshotOffer & { readonly holders: readonly Peer[] }

const UNLISTED = { holders: [], signatures: new Map<string, string>() }

export type SnapshotPeers = ReturnType<typeof createSnapshotPeers>

export function createSnapshotPeers(options: {
  readonly peers: readonly Peer[]
  readonly network: Network
  readonly client: PeerClient
  readonly onProblem: (error: unknown, peer: Peer) => void
}) {
  const { peers, network, client, onProblem } = options

  /** What `use` makes of an answer; null, and a report, where that or the request failed. */
  const ask = async <T>(
    peer: Peer,
    request: Pick<PeerRequest, 'path' | 'bytesMax' | 'timeoutMs'> & { signal: AbortSignal },
    use: (body: Uint8Array) => T,
  ): Promise<T | null> => {
    try {
      return use(await client.read(peer.url, { ...request, channel: 'bulk' }))
    } catch (error) {
      request.signal.throwIfAborted()
      onProblem(error, peer)
      return null
    }
  }

  const manifestOf = async (
    { offset, contentHash, holders }: ListedSnapshot,
    signal: AbortSignal,
  ): Promise<Manifest> => {
    const request = {
      path: `/v0/snapshots/${offset}/manifest`,
      bytesMax: MANIFEST_BYTES_MAX,
      timeoutMs: PIECE_MS_MAX,
      signal,
    }
    for (const holder of holders) {
      const manifest = await ask(holder, request, (bytes) => {
        const read = readManifest(bytes, contentHash)
        if (read === null) throw new Error('the manifest is not the one that was signed')
        return read
      })
      if (manifest !== null) return manifest
    }
    throw new Error(`no member has the snapshot of offset ${offset}`)
  }

  return {
    /** Those of all nodes that answer, the newest first. */
    async list(signal: AbortSignal): Promise<readonly ListedSnapshot[]> {
      const listedByKey = new Map<string, ListedSnapshot>()
      const request = {
        path: '/v0/snapshots',
        bytesMax: LIST_BYTES_MAX,
        timeoutMs: LIST_MS_MAX,
        signal,
      }
      const askFor = async (peer: Peer): Promise<void> => {
        const offers = await ask(peer, request, (body) => readOffers(body, network))
        for (const offer of offers ?? []) {
          const key = keyOfOffer(offer)
          const { holders, signatures } = listedByKey.get(key) ?? UNLISTED
          listedByKey.set(key, {
            ...offer,
            signatures: new Map([...signatures, ...offer.signatures]),
            holders: [...holders.filter((holder) => holder !== peer), peer],
          })
        }
      }
      await Promise.all(peers.map(askFor))
      return [...listedByKey.values()].sort((a, b) => b.offset - a.offset)
    },
    /**
     * The content of a snapshot, each piece held against the hash that was signed.
     *
     * @throws {Error} If none of the holders gives a piece.
     */
    async *content(listed: ListedSnapshot, signal: AbortSignal): AsyncGenerator<Uint8Array> {
      const { offset, holders } = listed
      const { pieceHashes } = await manifestOf(listed, signal)
      /** A holder that gave something else, or nothing, is not asked again. */
      const failed = new Set<Peer>()
      const pieceOf = async (index: number): Promise<Uint8Array> => {
        const request = {
          path: `/v0/snapshots/${offset}/pieces/${index}`,
          bytesMax: PIECE_BYTES,
          timeoutMs: PIECE_MS_MAX,
          signal,
        }
        for (let turn = 0; turn < holders.length; turn++) {
          const holder = holders[(index + turn) % holders.length]
          if (holder === undefined || failed.has(holder)) continue
          const piece = await ask(holder, request, (bytes) => {
            if (sha256Hex(bytes) !== pieceHashes[index])
              throw new Error(`piece ${index} is not what was signed`)
            return bytes
          })
          if (piece !== null) return piece
          failed.add(holder)
        }
        throw new Error(`no holder gives piece ${index} of the snapshot of offset ${offset}`)
      }
      const ahead: Promise<Uint8Array>[] = []
      for (let next = 0; ahead.length > 0 || next < pieceHashes.length; ) {
        while (next < pieceHashes.length && ahead.length < PIECES_AHEAD) {
          const piece = pieceOf(next++)
          piece.catch(() => {}) // Thrown where it is waited for.
          ahead.push(piece)
        }
        yield (await ahead.shift()) as Uint8Array
      }
    },
  }
}
