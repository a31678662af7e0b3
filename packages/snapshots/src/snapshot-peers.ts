/**
 * Snapshots of other nodes: lists them, and reads the content of one, piece by piece from the nodes that have it. A node
 * that lists a snapshot and does not return what members signed is asked after all others, for a time.
 */
import { type Clock, sha256Hex } from '@quorumscan/base'
import { createPenalties, type Peer, type PeerClient, type PeerRequest } from '@quorumscan/runtime'
import {
  keyOfOffer,
  MANIFEST_BYTES_MAX,
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
/** Requested ahead, each from the next holder. */
const PIECES_AHEAD = 4

/** A snapshot with the signatures that all nodes list for it, and the nodes that list it. */
export type ListedSnapshot = SnapshotOffer & { readonly holders: readonly Peer[] }

export function createSnapshotPeers(options: {
  readonly peers: readonly Peer[]
  readonly network: Network
  readonly client: PeerClient
  readonly clock: Clock
  readonly onProblem: (error: unknown, peer: Peer) => void
}) {
  const { peers, network, client, onProblem } = options
  const penalties = createPenalties<Peer>(options.clock)

  /**
   * Requests a resource of a peer and returns the result of `use`. If the request fails, or `use` returns null for the
   * response, it reports the problem and returns null.
   */
  const ask = async <T>(
    peer: Peer,
    request: Pick<PeerRequest, 'path' | 'bytesMax' | 'timeoutMs'> & { signal: AbortSignal },
    use: (body: Uint8Array) => T | null,
  ): Promise<T | null> => {
    try {
      const found = use(await client.read(peer.url, { ...request, channel: 'bulk' }))
      if (found === null)
        throw new Error(`the response to ${request.path} is not what members signed`)
      return found
    } catch (error) {
      request.signal.throwIfAborted()
      onProblem(error, peer)
      return null
    }
  }

  return {
    /**
     * The snapshots of all nodes that answer, the newest first; after them those which only nodes have that returned no
     * content when they were last asked.
     */
    async list(signal: AbortSignal): Promise<readonly ListedSnapshot[]> {
      const listedByKey = new Map<string, ListedSnapshot>()
      const limits = { bytesMax: LIST_BYTES_MAX, timeoutMs: LIST_MS_MAX }
      const request = { path: '/v0/snapshots', ...limits, signal }
      const askFor = async (peer: Peer): Promise<void> => {
        const offers = await ask(peer, request, (body) => readOffers(body, network))
        for (const offer of offers ?? []) {
          const key = keyOfOffer(offer)
          const { holders = [], signatures = [] } = listedByKey.get(key) ?? {}
          listedByKey.set(key, {
            ...offer,
            signatures: new Map([...signatures, ...offer.signatures]),
            holders: [...holders.filter((holder) => holder !== peer), peer],
          })
        }
      }
      await Promise.all(peers.map(askFor))
      const isDoubtful = ({ holders }: ListedSnapshot) => holders.every(penalties.isPenalized)
      return [...listedByKey.values()].sort(
        (a, b) => Number(isDoubtful(a)) - Number(isDoubtful(b)) || b.offset - a.offset,
      )
    },
    /**
     * The content of a snapshot. Each piece is compared with the hash that was signed.
     *
     * @throws {Error} If no holder returns a valid piece.
     */
    async *content(listed: ListedSnapshot, signal: AbortSignal): AsyncGenerator<Uint8Array> {
      const { offset, contentHash } = listed
      /** The nodes to ask. A node that failed, or returned other data, is removed. */
      const holders = new Set(listed.holders)
      const fetchPart = async <T>(
        part: string,
        { bytesMax, turn }: { readonly bytesMax: number; readonly turn: number },
        use: (bytes: Uint8Array) => T | null,
      ): Promise<T> => {
        const path = `/v0/snapshots/${offset}/${part}`
        const request = { path, bytesMax, timeoutMs: PIECE_MS_MAX, signal }
        const all = [...holders]
        const first = turn % all.length
        const inTurn = [...all.slice(first), ...all.slice(0, first)]
        for (const holder of penalties.inOrder(inTurn)) {
          if (!holders.has(holder)) continue
          const found = await ask(holder, request, use)
          if (found !== null) return found
          penalties.note(holder)
          holders.delete(holder)
        }
        throw new Error(`no member returned a valid ${part} of the snapshot of offset ${offset}`)
      }
      const limits = { bytesMax: MANIFEST_BYTES_MAX, turn: 0 }
      const readSigned = (bytes: Uint8Array) => readManifest(bytes, contentHash)
      const { pieceHashes } = await fetchPart('manifest', limits, readSigned)
      const ahead: Promise<Uint8Array>[] = []
      for (let next = 0; ahead.length > 0 || next < pieceHashes.length; ) {
        while (next < pieceHashes.length && ahead.length < PIECES_AHEAD) {
          const hash = pieceHashes[next]
          const checked = (bytes: Uint8Array) => (sha256Hex(bytes) === hash ? bytes : null)
          const piece = fetchPart(`pieces/${next}`, { bytesMax: PIECE_BYTES, turn: next }, checked)
          piece.catch(() => {}) // The `await` below throws the error.
          ahead.push(piece)
          next++
        }
        yield (await ahead.shift()) as Uint8Array
      }
    },
  }
}
