/**
 * Snapshots of other nodes: lists them, and reads the content of one, piece by piece from the nodes that have it. A node
 * that lists a snapshot and does not return what members signed, or is silent, is asked after all others, for a time.
 */
import { type Clock, linkedController, sha256Hex } from '@quorumscan/base'
import {
  askAll,
  askInTurn,
  createPenalties,
  HEDGE_MS_MAX,
  type Peer,
  type PeerClient,
  type PeerRequest,
} from '@quorumscan/runtime'
import {
  keyOfOffer,
  MANIFEST_BYTES_MAX,
  type Network,
  PIECE_BYTES,
  readManifest,
  readOffers,
  type SnapshotOffer,
} from './snapshot-offer.ts'

/** A node that hangs delays the trimming of the log no longer than that, nor an empty replica while no other lists enough. */
const LIST_MS_MAX = 2_000
/** Three snapshots with the signatures of a hundred members. */
const LIST_BYTES_MAX = 128 * 1024
/** A mebibyte over a line of a megabit a second. */
const PIECE_MS_MAX = 20_000
/** A source that takes this many times as long as is usual for a piece counts as silent. */
const LATE_FACTOR = 3
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
  const { peers, network, client, clock, onProblem } = options
  const penalties = createPenalties<Peer>(clock)

  /** @throws {Error} If the request fails, or `use` returns null for the response; it reports the problem. */
  const ask = async <T>(
    peer: Peer,
    request: Pick<PeerRequest, 'path' | 'bytesMax' | 'timeoutMs' | 'onProgress'> & {
      readonly signal: AbortSignal
    },
    use: (body: Uint8Array) => T | null,
  ): Promise<T> => {
    try {
      const found = use(await client.read(peer.url, { ...request, channel: 'bulk' }))
      if (found !== null) return found
      throw new Error(`the response to ${request.path} is not what members signed`)
    } catch (error) {
      if (!request.signal.aborted) onProblem(error, peer)
      throw error
    }
  }

  return {
    /**
     * The snapshots of all nodes that answer, the newest first; after them those which only nodes have that lost their
     * place. These nodes are asked after the others, and only if the others do not list enough.
     *
     * @param isEnough - Whether silent nodes are not waited for. Default: all are, for 2 s.
     */
    async list(
      signal: AbortSignal,
      isEnough: (listed: readonly ListedSnapshot[]) => boolean = () => false,
    ): Promise<readonly ListedSnapshot[]> {
      const listedByKey = new Map<string, ListedSnapshot>()
      const isDone = () => isEnough([...listedByKey.values()])
      const ended = linkedController(signal)
      const asking = ended.signal
      const limits = { bytesMax: LIST_BYTES_MAX, timeoutMs: LIST_MS_MAX }
      const request = { path: '/v0/snapshots', ...limits, signal: asking }
      const askFor = async (peer: Peer): Promise<void> => {
        const offers = await ask(peer, request, (body) => readOffers(body, network)).catch(
          () => null,
        )
        if (asking.aborted) return
        if (offers === null) penalties.note(peer)
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
      const isLast = (peer: Peer) => penalties.isPenalized(peer)
      try {
        for (const sources of [peers.filter((peer) => !isLast(peer)), peers.filter(isLast)])
          if (!isDone())
            for (const peer of await askAll({ sources, clock, ask: askFor, isEnough: isDone }))
              penalties.note(peer)
      } finally {
        ended.abort()
      }
      signal.throwIfAborted()
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
      const times = createPieceTimes(clock)
      const fetchPart = async <T>(
        part: string,
        { bytesMax, turn }: { readonly bytesMax: number; readonly turn: number },
        use: (bytes: Uint8Array) => T | null,
      ): Promise<T> => {
        const path = `/v0/snapshots/${offset}/${part}`
        const all = [...holders]
        const first = turn % all.length
        let newest: ReturnType<typeof times.begin> | null = null
        const found = await askInTurn<Peer, T>({
          sources: [...all.slice(first), ...all.slice(0, first)],
          penalties,
          clock,
          signal,
          needsAnother: () => bytesMax !== PIECE_BYTES || newest?.isSilent() !== false,
          async ask(holder, ending) {
            const timing = times.begin()
            newest = timing
            const { onProgress } = timing
            const request = { path, bytesMax, timeoutMs: PIECE_MS_MAX, onProgress, signal: ending }
            try {
              const answer = await ask(holder, request, use)
              if (bytesMax === PIECE_BYTES) timing.end()
              return { kind: 'proven', answer }
            } catch (error) {
              if (!ending.aborted) holders.delete(holder)
              throw error
            }
          },
        })
        if (found === null)
          throw new Error(`no member returned a valid ${part} of the snapshot of offset ${offset}`)
        return found.answer
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

/**
 * Judges requests for pieces. On a slow line each takes seconds, and further requests for the same piece would delay it. So a
 * source is not silent while its bytes arrive at a third of the usual rate; before one is known, at the rate of the longest
 * request.
 */
function createPieceTimes(clock: Clock) {
  let pieceCount = 0
  let usualMs = PIECE_MS_MAX / LATE_FACTOR
  return {
    begin() {
      const beganAtMs = clock.monotonicMs()
      let progressAtMs = beganAtMs
      let receivedBytes = 0
      return {
        onProgress(bytes: number): void {
          progressAtMs = clock.monotonicMs()
          receivedBytes += bytes
        },
        isSilent(): boolean {
          const nowMs = clock.monotonicMs()
          const dueBytes = (PIECE_BYTES * (nowMs - beganAtMs)) / (LATE_FACTOR * usualMs)
          return nowMs - progressAtMs >= HEDGE_MS_MAX || receivedBytes < dueBytes
        },
        end(): void {
          usualMs += (clock.monotonicMs() - beganAtMs - usualMs) / ++pieceCount
        },
      }
    },
  }
}
