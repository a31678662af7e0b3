/** Clusters for tests: real processes, through the same control plane as the command line. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock, findRedis } from '@quorumscan/base'
import type { OrderingDriver } from '@quorumscan/operator'
import { createToken, dataDirectory, FIRST_ADMIN_USER } from '@quorumscan/operator'
import type { GenesisOverrides } from '@quorumscan/operator/ceremony'
import { type ChaosOptions, call, connectControl, runChaosOn } from '../control/client.ts'
import { controlOptions } from '../control/control-options.ts'
import { holdControlPlane } from '../control/launch.ts'
import type { Fault, FaultInput, Part } from '../faults/fault-spec.ts'
import type { RunState } from '../judge/chaos/runs.ts'
import type { ClusterStatus } from '../rig/status.ts'
import type { LieKind } from '../view/lies.ts'

export type StartClusterOptions = {
  /** Default 4. */
  readonly nodes?: number
  /** Default `redis`: one synchronizer. */
  readonly ordering?: OrderingDriver
  /** Remains after `down`. Default: a temporary directory, which `down` deletes. */
  readonly dataDir?: string
  /** For a new cluster, e.g. `{names: {entryLifetimeMicros: 5_000_000}}`. */
  readonly genesisOverrides?: GenesisOverrides
  /** Default 0: any free ports. */
  readonly basePort?: number
  /** Units of work per second and client (D-33). Default 100 000. */
  readonly rateLimit?: number
  /** With less free disk space, in MiB, the synchronizer refuses entries. Default 256. */
  readonly diskFreeMibMin?: number
  /** Memory of all its Redis servers together, in MiB. Default: half of the machine's. */
  readonly redisMemoryMib?: number
  /** How long the log retains entries that precede a snapshot, in seconds. Default: a day. */
  readonly logKeepSeconds?: number
  /** Whether to measure one lookup per second, as `up` does. Default: no. */
  readonly probe?: boolean
}

/** Default: all processes of the node. */
export type ProcessOptions = { readonly part?: Part | null }

export type FaultOptions = {
  /** The fault ends after this time. Default: at `heal`. */
  readonly durationMs?: number
}

/** What a kind of fault has in addition to its node. `edge`: by default `http`, its clients. */
type OptionsOf<Kind extends FaultInput['kind']> = FaultOptions &
  Omit<Extract<FaultInput, { kind: Kind }>, 'kind' | 'node'>

export type RunningCluster = AsyncDisposable & {
  readonly dataDir: string
  readonly urls: {
    readonly validator: string
    readonly synchronizer: string
    /** By node name: `sv-1` … */
    readonly nodes: Readonly<Record<string, string>>
  }
  /** A bearer token of the validator. Default: for the administrator. */
  token(user?: string): Promise<string>
  kill(node: string, options?: ProcessOptions): Promise<void>
  pause(node: string, options?: ProcessOptions): Promise<void>
  resume(node: string, options?: ProcessOptions): Promise<void>
  /** Returns when the node is up again, or after a bounded wait. */
  restart(node: string, options?: ProcessOptions): Promise<void>
  /** Deletes the replica, and rebuilds it. `disk`: deletes all data of the node except its keys. */
  wipe(node: string, options?: { readonly disk?: boolean }): Promise<void>
  /** Deletes the history of a node up to an offset. Returns the offset in force. */
  prune(node: string, to: number): Promise<number>
  /** Makes a super-validator Byzantine. It signs with its own keys. */
  lie(node: string, kind?: LieKind, options?: FaultOptions): Promise<Fault>
  /** Delays the answers on an edge. */
  slow(node: string, options: OptionsOf<'slow'>): Promise<Fault>
  /** Connections lose all further bytes. `rate`: the probability at each chunk (default 1). */
  drop(node: string, options?: OptionsOf<'drop'>): Promise<Fault>
  /** Resets the connections of an edge at the first byte. */
  reset(node: string, options?: OptionsOf<'reset'>): Promise<Fault>
  /** Cuts a node off from the log, from its clients (including the scan proxy), or from both (default). */
  partition(node: string, options?: OptionsOf<'partition'>): Promise<Fault>
  /** Cuts the engine of a node off from the engines of others. Needs ordering `cometbft`. */
  split(node: string, others: readonly string[], options?: FaultOptions): Promise<Fault>
  /** Shifts the wall clock of the node's process. */
  clock(node: string, options: OptionsOf<'clock'>): Promise<Fault>
  /** Fills the Redis of a node or of the validator: it answers reads and refuses writes. */
  fillMemory(node: string, options?: FaultOptions): Promise<Fault>
  /** Ends the faults of one node, or all faults. Returns the faults that it ended. */
  heal(node?: string): Promise<readonly Fault[]>
  /** The faults in force. */
  faults(): Promise<readonly Fault[]>
  /** Runs a chaos run: injects and heals faults. Returns at the verdict. */
  chaos(options: ChaosOptions): Promise<RunState>
  status(): Promise<ClusterStatus>
  down(): Promise<void>
}

/**
 * Starts a cluster and returns when all of it is ready. The cluster stops when the calling process
 * exits, even by SIGKILL. Needs a build.
 *
 * @throws {CommandError} If it does not start.
 */
export async function startCluster(options: StartClusterOptions = {}): Promise<RunningCluster> {
  const clock = createSystemClock()
  const { dataDir: path, nodes: nodeCount = null, genesisOverrides, ...asked } = options
  const directory = dataDirectory(path ?? (await mkdtemp(join(tmpdir(), 'qs-cluster-'))))
  const own = { dataDir: directory.path, nodeCount, overrides: genesisOverrides ?? null }
  const redisServer = findRedis(process.env) ?? 'redis-server'
  const whole = controlOptions({ basePort: 0, ...asked, ...own, redisServer })
  const held = await holdControlPlane(whole, clock)
  const client = connectControl(directory)
  const first = await call(client.cluster.status.query())
  const target = (node: string, { part = null }: ProcessOptions = {}) => ({ node, part })
  const inject = (fault: FaultInput, options: FaultOptions = {}) =>
    call(client.faults.inject.mutate({ fault, durationMs: options.durationMs ?? null }))
  const down = async () => {
    await held[Symbol.asyncDispose]()
    if (options.dataDir === undefined) await rm(directory.path, { recursive: true, force: true })
  }
  return {
    dataDir: directory.path,
    urls: {
      validator: first.validator.url,
      synchronizer: first.synchronizer.url,
      nodes: Object.fromEntries(first.nodes.map((node) => [node.name, node.url])),
    },
    token: (user = FIRST_ADMIN_USER) => createToken(directory, { user, clock }),
    kill: (node, options) => call(client.nodes.kill.mutate(target(node, options))),
    pause: (node, options) => call(client.nodes.pause.mutate(target(node, options))),
    resume: (node, options) => call(client.nodes.resume.mutate(target(node, options))),
    restart: (node, options) => call(client.nodes.restart.mutate(target(node, options))),
    prune: async (node, to) => (await call(client.nodes.prune.mutate({ node, to }))).horizon,
    wipe: (node, options) => call(client.nodes.wipe.mutate({ node, ...options })),
    lie: (node, lie = 'value', options) => inject({ kind: 'lie', node, lie }, options),
    slow: (node, { latencyMs, jitterMs, edge, ...options }) =>
      inject({ kind: 'slow', node, latencyMs, jitterMs, edge }, options),
    drop: (node, { rate, edge, ...options } = {}) =>
      inject({ kind: 'drop', node, rate, edge }, options),
    reset: (node, { edge, ...options } = {}) => inject({ kind: 'reset', node, edge }, options),
    partition: (node, { from, ...options } = {}) =>
      inject({ kind: 'partition', node, from }, options),
    split: (node, others, options) => inject({ kind: 'split', node, others: [...others] }, options),
    clock: (node, { offsetMs, ...options }) => inject({ kind: 'clock', node, offsetMs }, options),
    fillMemory: (node, options) => inject({ kind: 'memory', node }, options),
    heal: (node) => call(client.faults.heal.mutate(node === undefined ? {} : { node })),
    faults: () => call(client.faults.list.query()),
    chaos: (options) => runChaosOn(client, { ...options, clock }),
    status: () => call(client.cluster.status.query()),
    down,
    [Symbol.asyncDispose]: down,
  }
}
