/** `up`: starts a cluster and stays with it, or leaves it running. */
import { readFileSync } from 'node:fs'
import { type Clock, randomHex, systemRandom } from '@quorumscan/base'
import { ClusterError, messageOf } from '../cluster-error.ts'
import { call, connectControl } from '../control/client.ts'
import { readControlFile } from '../control/control-file.ts'
import { stopCluster } from '../control/down.ts'
import { type Launch, launchControlPlane } from '../control/launch.ts'
import type { DataDirectory } from '../data-directory.ts'
import type { GenesisOverrides } from '../genesis.ts'
import { isRegistered, registerName } from '../registration.ts'
import type { ClusterStatus } from '../status.ts'
import { createToken } from '../token.ts'
import { formatSummary } from './format.ts'

export type UpOptions = {
  readonly directory: DataDirectory
  readonly nodeCount: number | null
  readonly basePort: number | null
  readonly rateLimit: number
  readonly genesisOverridesFile: string | null
  readonly wipe: boolean
  readonly detach: boolean
  readonly json: boolean
  readonly seedNames: boolean
  readonly redisServer: string
  readonly clock: Clock
}

const SEED_LABELS = ['alice', 'bob', 'carol']
const TOKEN_TTL_SECONDS = 600
/** Of a shell's convention: 128 and the number of SIGINT. */
const EXIT_INTERRUPTED = 130

/** Returns the exit code: when the cluster is ready if detached, else when it has stopped. */
export async function up(options: UpOptions): Promise<number> {
  const { directory } = options
  if (readControlFile(directory) !== null) {
    const status = await showReady(options)
    if (options.nodeCount !== null && options.nodeCount !== status.cluster.n)
      throw new ClusterError(`a cluster of ${status.cluster.n} nodes runs in ${directory.path}`)
    process.stderr.write('This cluster was running already; `quorumscan down` stops it.\n')
    return 0
  }
  // From the first moment on: an interrupted start is stopped in order too.
  const interrupted = untilInterrupted()
  const launch = launchControlPlane(
    {
      dataDir: directory.path,
      nodeCount: options.nodeCount,
      basePort: options.basePort,
      rateLimit: options.rateLimit,
      overrides: readOverrides(options.genesisOverridesFile),
      redisServer: options.redisServer,
      wipe: options.wipe,
      detach: options.detach,
      probe: true,
    },
    (sentence) => progress(sentence),
  )
  if ((await Promise.race([launch.ready, interrupted])) === 'interrupted') {
    progress('stopping')
    launch.abort()
    await Promise.allSettled([launch.ready, launch.ended])
    progress('stopped')
    return EXIT_INTERRUPTED
  }
  if (options.seedNames) await Promise.race([seedNames(options), interrupted])
  await showReady(options)
  if (options.detach) {
    launch.release()
    return 0
  }
  if (!options.json) process.stdout.write('\nCtrl-C stops the cluster.\n')
  return follow(launch, interrupted, options)
}

async function follow(
  launch: Launch,
  interrupted: Promise<'interrupted'>,
  options: UpOptions,
): Promise<number> {
  const first = await Promise.race([launch.ended, interrupted])
  if (first !== 'interrupted') {
    if (first.exitCode === 0) {
      progress('the cluster was stopped')
      return 0
    }
    progress('the control plane crashed; ending what it left')
    await stopCluster(options.directory, options.clock)
    return 1
  }
  progress('stopping')
  await stopCluster(options.directory, options.clock)
  await launch.ended
  progress('stopped')
  return 0
}

/** Prints where everything is; the status as JSON where that was asked for. */
async function showReady(options: UpOptions): Promise<ClusterStatus> {
  const status = await call(connectControl(options.directory).cluster.status.query())
  const controlUrl = readControlFile(options.directory)?.url ?? ''
  process.stdout.write(
    options.json
      ? `${JSON.stringify(status)}\n`
      : `\nquorumscan is up.\n\n${formatSummary(status, controlUrl)}\n`,
  )
  return status
}

/** Registers the seed names that are not there yet. A cluster without them is as good: only told. */
async function seedNames(options: UpOptions): Promise<void> {
  const { directory, clock } = options
  const { validator } = await call(connectControl(directory).cluster.status.query())
  progress(`registering ${SEED_LABELS.map(nameOf).join(', ')}`)
  const outcomes = await Promise.allSettled(
    SEED_LABELS.map(async (label) => {
      const name = nameOf(label)
      if (await isRegistered({ validatorUrl: validator.url, name })) return
      const token = await createToken(directory, {
        user: label,
        ttlSeconds: TOKEN_TTL_SECONDS,
        clock,
      })
      await registerName({
        validatorUrl: validator.url,
        token,
        name,
        description: 'One of the names that every new cluster starts with.',
        clock,
        onStep: () => {},
      })
    }),
  )
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') progress(`not registered: ${messageOf(outcome.reason)}`)
}

function nameOf(label: string): string {
  return `${label}.unverified.ns`
}

/** A label that no earlier run of the demo has used. */
export function freshLabel(): string {
  return `demo-${randomHex(systemRandom, 4)}`
}

function readOverrides(file: string | null): GenesisOverrides | null {
  if (file === null) return null
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as GenesisOverrides
  } catch (error) {
    throw new ClusterError(`--genesis-overrides ${file}: ${messageOf(error)}`)
  }
}

function untilInterrupted(): Promise<'interrupted'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => resolve('interrupted'))
  })
}

/** Progress goes to stderr, so that stdout is the result alone. */
function progress(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
}
