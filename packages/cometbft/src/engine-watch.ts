/**
 * Watches a running engine: reads its state, dials the members that it has lost, and disconnects engines that are no longer
 * admitted, and reports an engine that hangs. The engine itself gives a member up after a day, and dials it less and less often after the first minutes.
 */

import type { Clock } from '@quorumscan/base'
import { createSilence, repeat } from '@quorumscan/runtime'
import type { MemberSet } from '@quorumscan/verifier'
import { idOfAddress, readConnectedEngines, readPeerIds, readStatus } from './engine-answers.ts'
import { ENGINE_MS_MAX, type EngineRpc, EngineUnavailableError } from './engine-rpc.ts'
import {
  ENGINE_START,
  type EngineHistory,
  type EngineReading,
  type EngineState,
  isRestartDue,
  stepEngine,
} from './engine-state.ts'

/** The time between polls: a member that has returned takes part within some seconds. */
const POLL_MS = 2000

/** Starts at once, and continues until it is disposed of. */
export function watchEngine(options: {
  readonly rpc: EngineRpc
  /** `id@host:port` of the other members. */
  readonly peers: () => readonly string[]
  /** Whether the engine with this id may be connected. */
  readonly isPeer: (nodeId: string) => boolean
  /** Closes the connection of the engine that dialed from this port. */
  readonly disconnect: (port: number) => void
  /** Ids of the engines that vote. */
  readonly members: readonly string[]
  readonly set: Pick<MemberSet, 'f' | 'quorum'>
  /** The height of the newest block that was published. */
  readonly height: () => number
  /** Receives each reading. */
  readonly onReading: (reading: EngineReading) => Promise<void>
  /** Receives what `onReading` rejects with; the next poll calls that again. */
  readonly onFailure: (error: unknown) => void
  /** The engine makes no progress, and a restart may help. */
  readonly restart: () => void
  /** Of the engine that runs; null: none does. */
  readonly pid: () => number | null
  /**
   * The engine answered, and then for a minute of this process's running time did not. One that has not answered yet may
   * be reading its blocks again, which may take longer. Null: not reported, as in a cluster, where `pause` is a fault.
   */
  readonly onHang: (() => void) | null
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}) {
  const { rpc, set, clock } = options
  let history: EngineHistory = ENGINE_START
  let connected: readonly string[] = []
  let restartedMs = Number.NEGATIVE_INFINITY
  const silence = createSilence(clock, POLL_MS + ENGINE_MS_MAX)
  let answeredPid: number | null = null

  const read = async (): Promise<EngineReading> => {
    try {
      const [status, net, consensus] = await Promise.all([
        rpc.call('status'),
        rpc.call('net_info'),
        rpc.call('dump_consensus_state'),
      ])
      connected = readPeerIds(net)
      const engines = readConnectedEngines(consensus)
      for (const { id, port } of engines) if (!options.isPeer(id)) options.disconnect(port)
      return {
        kind: 'up',
        isCatchingUp: readStatus(status).isCatchingUp,
        // Other engines may claim any height.
        peerHeights: engines.flatMap(({ id, height }) =>
          options.members.includes(id) && height !== null ? [height] : [],
        ),
      }
    } catch (error) {
      connected = []
      if (!(error instanceof EngineUnavailableError)) options.onProblem(error)
      return { kind: 'unreachable' }
    }
  }
  const poll = async (): Promise<void> => {
    const reading = await read()
    const nowMs = clock.monotonicMs()
    if (reading.kind === 'up') {
      answeredPid = options.pid()
      silence.end()
    }
    if (silence.count() && answeredPid !== null && answeredPid === options.pid()) {
      answeredPid = null
      options.onHang?.()
    }
    history = stepEngine(history, { reading, height: options.height(), nowMs, set })
    if (isRestartDue(history, { reading, nowMs, restartedMs, set })) {
      restartedMs = nowMs
      options.restart()
    }
    await options.onReading(reading).catch(options.onFailure)
    const missing = options.peers().filter((peer) => !connected.includes(idOfAddress(peer)))
    if (reading.kind === 'unreachable' || missing.length === 0) return
    await rpc.call('dial_peers', { peers: missing }).catch(options.onProblem)
  }
  const polling = repeat(poll, { clock, everyMs: POLL_MS, onError: options.onProblem })

  return {
    state: (): EngineState => history.state,
    /** Ids of the engines that are connected. */
    connected: () => connected,
    [Symbol.asyncDispose]: polling[Symbol.asyncDispose],
  }
}

export type EngineWatch = ReturnType<typeof watchEngine>
