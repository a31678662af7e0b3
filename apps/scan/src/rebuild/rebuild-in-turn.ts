/**
 * A replica of another layout is deleted and rebuilt when it is this node's turn. Until then the node answers no lookup,
 * but reports its health, and offers its snapshots: the node that has the turn starts from one.
 */

import { scanRoutes } from '@quorumscan/api'
import { fromUtf8 } from '@quorumscan/base'
import type { ScanConfig } from '@quorumscan/config'
import { ScanError } from '@quorumscan/errors'
import type { readStoredEnd } from '@quorumscan/log'
import type { Peer, PeerClient, PeerClocks } from '@quorumscan/runtime'
import {
  type App,
  buildServer,
  createHealthHandlers,
  type Handlers,
  startApp,
} from '@quorumscan/server'
import {
  createSnapshotHandlers,
  nextPhase,
  type PeerPhase,
  type Phase,
  recordReport,
  type SnapshotStore,
  type TurnPeer,
} from '@quorumscan/snapshots'
import { memberOf, membersOf } from '@quorumscan/verifier'
import { headHeaders } from '../pinned.ts'

/** The time between two requests to all peers. */
const POLL_MS = 500
const READINESS = {
  path: '/readyz',
  timeoutMs: 1_000,
  /** Enough for an error, the largest answer. */
  bytesMax: 16 * 1024,
}

/** The state that the body of `/readyz` reports in `details.state`. */
const STATE_OF = { waits: 'waiting-to-rebuild', claims: 'about-to-rebuild' } as const
const REPORT_BY_STATE: ReadonlyMap<string, PeerPhase> = new Map([
  [STATE_OF.waits, 'waits'],
  [STATE_OF.claims, 'claims'],
  ['starting', 'rebuilds'],
  ['catching-up', 'rebuilds'],
])

type Parts = {
  readonly app: Pick<App, 'name' | 'clock' | 'logger' | 'serving' | 'certificates'>
  readonly config: ScanConfig
  readonly peers: readonly Peer[]
  readonly client: PeerClient
  readonly clocks: PeerClocks
  readonly snapshots: SnapshotStore
  /**
   * The end of the log that this node has stored; null: none. The node reports it while it waits,
   * because a single synchronizer starts only after it knows the ends of most nodes.
   */
  readonly end: Awaited<ReturnType<typeof readStoredEnd>>
  readonly signal: AbortSignal
}

/** Resolves when the replica is deleted. @throws The abort reason of the signal. */
export async function rebuildInTurn(parts: Parts, deleteReplica: () => Promise<unknown>) {
  const { logger } = parts.app
  const waiting: Waiting = { phase: 'waits', blockers: [] }
  await using _server = await serveWaiting(parts, waiting)
  logger.warn('another release wrote the replica: it is rebuilt when it is the turn of this node')
  await untilTurn(parts, waiting)
  logger.warn('deleting the replica, to rebuild it')
  await deleteReplica()
}

type Waiting = { phase: Phase; blockers: readonly string[] }

async function untilTurn(parts: Parts, waiting: Waiting): Promise<void> {
  const { peers, signal } = parts
  const { name, clock, logger } = parts.app
  let others = peers.map(
    ({ name }): TurnPeer => ({ name, report: 'unreachable', unreachableMs: 0, blockedMs: 0 }),
  )
  let lastMs = clock.monotonicMs()
  for (;;) {
    signal.throwIfAborted()
    const reports = await Promise.all(peers.map((peer) => readPhase(peer, parts)))
    const ms = clock.monotonicMs() - lastMs
    lastMs += ms
    others = others.map((other, index) =>
      recordReport(other, {
        report: reports[index] ?? 'unreachable',
        ms,
        wasBlocker: waiting.blockers.includes(other.name),
      }),
    )
    const { next, blockers } = nextPhase({ name, phase: waiting.phase }, others)
    if (next === 'begins') return
    if (blockers.join() !== waiting.blockers.join())
      logger.info({ blockers }, 'the replica waits to be rebuilt')
    const isUnchanged = next === waiting.phase
    waiting.phase = next
    waiting.blockers = blockers
    if (isUnchanged) await clock.delay(POLL_MS, signal)
  }
}

async function readPhase({ url }: Peer, { client, signal }: Parts): Promise<PeerPhase> {
  try {
    const reply = await client.request(url, { ...READINESS, signal })
    if (reply.status === 200) return 'ready'
    const { details } = membersOf(JSON.parse(fromUtf8(reply.body)))
    return REPORT_BY_STATE.get(String(memberOf(details, 'state'))) ?? 'other'
  } catch {
    signal.throwIfAborted()
    return 'unreachable'
  }
}

/** The server declares all routes, because a peer takes a 404 for an answer. */
function serveWaiting(parts: Parts, waiting: Waiting): Promise<AsyncDisposable> {
  const { config, clocks, end, snapshots } = parts
  const { name, clock, logger, certificates, serving } = parts.app
  const notReady = () => {
    const { phase, blockers } = waiting
    const order = blockers.length === 0 ? '' : ` (after ${blockers.join(', ')})`
    const sentence = `Another release of quorumscan wrote the replica: the node waits for its turn to rebuild it${order}.`
    const details = { state: STATE_OF[phase] }
    return new ScanError('NOT_READY', sentence, { details, retryAfterSeconds: 1 })
  }
  const refuse = async () => {
    throw notReady()
  }
  const failed = new Promise<never>(() => {})
  const waitingParts = {
    // The process goes on: its tracer stays open.
    app: { logger, tracer: null },
    config,
    failed,
    [Symbol.asyncDispose]: async () => {},
  }
  const createServer = (_: typeof waitingParts, port: () => number) => {
    const refusing = Object.keys(scanRoutes).map((id) => [id, refuse])
    return buildServer({
      ...serving,
      routes: scanRoutes,
      handlers: {
        ...(Object.fromEntries(refusing) as Handlers<typeof scanRoutes>),
        // Without metrics: the server that follows registers them.
        ...createHealthHandlers(
          { name, clock, clocks, certificates },
          {
            port,
            assertReady: refuse,
            state: () => STATE_OF[waiting.phase],
            head: () => end,
            detail: () => notReady().message,
          },
        ),
        ...createSnapshotHandlers({ snapshots }),
      },
      prefix: '/api/scan',
      tracer: null,
      ...(end !== null && { commonHeaders: () => headHeaders(end) }),
    })
  }
  return startApp(waitingParts, createServer)
}
