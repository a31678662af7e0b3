/** Clusters for tests: real processes, through the same control plane as the command line. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { call, connectControl } from './control/client.ts'
import { stopCluster } from './control/down.ts'
import { launchControlPlane } from './control/launch.ts'
import { dataDirectory } from './data-directory.ts'
import type { GenesisOverrides } from './genesis.ts'
import type { ClusterStatus } from './status.ts'
import { createToken, FIRST_ADMIN_USER, parseTtl } from './token.ts'

export type StartClusterOptions = {
  /** Default 4. */
  readonly nodes?: number
  /** Kept afterwards. Default: a temporary one that is deleted at the end. */
  readonly dataDir?: string
  /** For a new cluster, e.g. `{names: {entryLifetimeMicros: 5_000_000}}`. */
  readonly genesisOverrides?: GenesisOverrides
  /** Default 0: any free ports. */
  readonly basePort?: number
  /** Units per second and client (D-33). Default 100 000. */
  readonly rateLimit?: number
}

export type ProcessOptions = { readonly redis?: boolean }

export type RunningCluster = AsyncDisposable & {
  readonly dataDir: string
  readonly urls: {
    readonly validator: string
    readonly synchronizer: string
    /** By node name: `sv-1` … */
    readonly nodes: Readonly<Record<string, string>>
  }
  /** A bearer token of the validator for a user; without one, for the administrator. */
  token(user?: string): Promise<string>
  kill(node: string, options?: ProcessOptions): Promise<void>
  pause(node: string, options?: ProcessOptions): Promise<void>
  resume(node: string, options?: ProcessOptions): Promise<void>
  /** Returns when it is up again, or after a bounded wait. */
  restart(node: string, options?: ProcessOptions): Promise<void>
  wipe(node: string): Promise<void>
  status(): Promise<ClusterStatus>
  down(): Promise<void>
}

/**
 * Starts a cluster and returns when all of it is ready. It ends with the process that called, however
 * that ends. Needs a build.
 *
 * @throws {ClusterError} If it does not start.
 */
export async function startCluster(options: StartClusterOptions = {}): Promise<RunningCluster> {
  const clock = createSystemClock()
  const path = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'qs-cluster-')))
  const directory = dataDirectory(path)
  const launch = launchControlPlane(
    {
      dataDir: directory.path,
      nodeCount: options.nodes ?? null,
      basePort: options.basePort ?? 0,
      rateLimit: options.rateLimit ?? 100_000,
      overrides: options.genesisOverrides ?? null,
      redisServer: process.env['REDIS_SERVER'] || 'redis-server',
      wipe: false,
      detach: false,
    },
    () => {},
  )
  await launch.ready
  const client = connectControl(directory)
  const first = await call(client.status.query())
  const target = (node: string, redis: ProcessOptions = {}) => ({
    node,
    redis: redis.redis ?? false,
  })
  const down = async () => {
    await stopCluster(directory, clock)
    await launch.ended
    if (options.dataDir === undefined) await rm(directory.path, { recursive: true, force: true })
  }
  return {
    dataDir: directory.path,
    urls: {
      validator: first.validator.url,
      synchronizer: first.synchronizer.url,
      nodes: Object.fromEntries(first.nodes.map((node) => [node.name, node.url])),
    },
    token: (user = FIRST_ADMIN_USER) =>
      createToken(directory, { user, ttlSeconds: parseTtl('24h'), clock }),
    kill: (node, redis) => call(client.kill.mutate(target(node, redis))),
    pause: (node, redis) => call(client.pause.mutate(target(node, redis))),
    resume: (node, redis) => call(client.resume.mutate(target(node, redis))),
    restart: (node, redis) => call(client.restart.mutate(target(node, redis))),
    wipe: (node) => call(client.wipe.mutate({ node })),
    status: () => call(client.status.query()),
    down,
    [Symbol.asyncDispose]: down,
  }
}
