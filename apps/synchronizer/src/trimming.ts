/**
 * Trims the log: deletes the entries below the newest snapshot that a quorum of members has, which are older than it by
 * what the operator configured. No follower needs them: one that lags more starts from that snapshot.
 */
import type { LogStart } from '@quorumscan/log'
import type { LogPosition } from '@quorumscan/model'
import { createPeerClient, type Peer, repeat } from '@quorumscan/runtime'
import type { App } from '@quorumscan/server'
import { createSnapshotPeers, type ListedSnapshot } from '@quorumscan/snapshots'
import { type Genesis, memberSetOf } from '@quorumscan/verifier'

/** A snapshot comes once an hour, or every twenty seconds of a busy network. */
const POLL_MS = 5_000
const MICROS_PER_SECOND = 1_000_000
/** Seconds of the log that a full one keeps, at most: a process that was down for longer starts from a snapshot. */
const KEEP_SECONDS_FULL = 3600

const NOTHING: LogPosition = { offset: 0, recordTime: 0 }

/** Looks for what may go until it is disposed of. */
export function trimLogRegularly(
  app: Pick<App, 'clock' | 'logger' | 'metrics' | 'trust' | 'genesis' | 'genesisHash'>,
  options: {
    readonly nodes: readonly Peer[]
    /** Seconds of record time that stay before the snapshot, unless the log is full. */
    readonly keepSeconds: number
    readonly isFull: () => boolean
    readonly trim: (before: LogPosition, signal: AbortSignal) => Promise<LogStart | null>
  },
): AsyncDisposable {
  const { clock, logger, metrics } = app
  const { keepSeconds, isFull } = options
  const client = createPeerClient({ clock, trust: app.trust })
  const peers = createSnapshotPeers({
    peers: options.nodes,
    network: app,
    client,
    clock,
    onProblem: (err, { name }) =>
      logger.debug({ err, node: name }, 'the snapshots of a node are not known'),
  })
  let start: LogStart | null = null

  metrics.sampled('gauge', {
    name: 'log_first_offset',
    help: 'Oldest entry that the log still has.',
    read: () => [[[], (start?.offset ?? 0) + 1]],
  })

  const round = async (signal: AbortSignal): Promise<void> => {
    // Where nothing may be trimmed, the call still returns where the log begins.
    const held = newestHeldByQuorum(await peers.list(signal), app.genesis)
    const { offset, recordTime } = held ?? NOTHING
    const kept = isFull() ? Math.min(keepSeconds, KEEP_SECONDS_FULL) : keepSeconds
    const before = { offset, recordTime: recordTime - kept * MICROS_PER_SECOND }
    const trimmed = await options.trim(before, signal)
    if (trimmed !== null && trimmed.offset !== start?.offset)
      logger.info({ offset: trimmed.offset + 1 }, 'the log begins here')
    start = trimmed
  }
  const trimming = repeat(round, {
    clock,
    everyMs: POLL_MS,
    // The writer reports an unavailable Redis, and the check of the chain reports damage.
    onError: (err) => logger.debug({ err }, 'the log cannot be trimmed'),
  })
  return {
    async [Symbol.asyncDispose]() {
      await trimming[Symbol.asyncDispose]()
      await client[Symbol.asyncDispose]()
    },
  }
}

/** The newest snapshot that a quorum of members has and has signed; null: no such snapshot exists. */
function newestHeldByQuorum(listed: readonly ListedSnapshot[], genesis: Genesis) {
  const { quorum } = memberSetOf(genesis)
  // A signature does not show that the member still has the snapshot.
  const membersWith = ({ holders, signatures }: ListedSnapshot) =>
    new Set(holders.map(({ name }) => name).filter((name) => signatures.has(name)))
  return listed.find((one) => membersWith(one).size >= quorum) ?? null
}
