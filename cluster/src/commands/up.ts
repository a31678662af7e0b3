/** `up`: starts a cluster, and stops it when interrupted, or leaves it running. */
import { readFileSync } from 'node:fs'
import type { Clock } from '@quorumscan/base'
import { EXIT, print, printError, printResult, untilInterrupted } from '@quorumscan/cli'
import { createToken, type DataDirectory, dataDirectory } from '@quorumscan/operator'
import type { GenesisOverrides } from '@quorumscan/operator/ceremony'
import { CommandError, messageOf } from '@quorumscan/runtime'
import { call, connectControl } from '../control/client.ts'
import { readControlFile } from '../control/control-file.ts'
import { type ControlOptions, controlOptions } from '../control/control-options.ts'
import { type Launch, launchControlPlane, stopCluster } from '../control/launch.ts'
import { isRegistered, registerName } from '../rig/registration.ts'
import { marginsOf } from '../view/service-margins.ts'
import { formatSummary, formatUp } from './format.ts'

/** The options of `up`. */
export type UpFlags = Partial<Pick<ControlOptions, 'ordering' | 'basePort' | 'wipe' | 'detach'>> &
  Pick<ControlOptions, 'dataDir' | 'rateLimit'> & {
    readonly nodes?: number
    readonly diskFreeMin: number
    readonly logKeep: number
    readonly redisMemory?: number
    readonly acceptLostUsers?: boolean
    readonly genesisOverrides?: string
    readonly json?: boolean
    readonly seedNames?: boolean
  }
type UpOptions = UpFlags & {
  readonly directory: DataDirectory
  readonly redisServer: string
  readonly clock: Clock
}

const SEED_LABELS = ['alice', 'bob', 'carol']
/** A control plane that was killed within this time after it was ready is not restarted. */
const CONTROL_LASTED_MS = 10_000

/** Returns the exit code: once the cluster is ready if detached, otherwise once it has stopped. */
export async function up(flags: UpFlags, context: Pick<UpOptions, 'redisServer' | 'clock'>) {
  const options = { ...flags, ...context, directory: dataDirectory(flags.dataDir) }
  if (readControlFile(options.directory) !== null) return await showRunning(options)
  // Before the launch, so that an interrupted start stops in order.
  const interrupted = untilInterrupted()
  const launch = launchControlPlane(asked(options), printError)
  if ((await Promise.race([launch.ready, interrupted])) === 'interrupted') {
    printError('stopping')
    launch.abort()
    await Promise.allSettled([launch.ready, launch.ended])
    printError('stopped')
    return EXIT.interrupted
  }
  if (options.seedNames) await Promise.race([seedNames(options), interrupted])
  await showStatus(options)
  if (options.detach) {
    launch.release()
    return 0
  }
  if (!options.json) print('\nCtrl-C stops the cluster.')
  return follow(launch, interrupted, options)
}

/** Shows a cluster that already runs. Returns the exit code: 1 while lookups fail. */
async function showRunning(options: UpOptions): Promise<number> {
  const { directory, nodes, basePort, ordering } = options
  const runningPort = Number(new URL(readControlFile(directory)?.url ?? '').port)
  if (basePort !== undefined && basePort !== 0 && basePort !== runningPort)
    throw new CommandError(
      `the cluster in ${directory.path} uses the ports from ${runningPort} on; to move it, run ` +
        `\`quorumscan down\`, then \`quorumscan up --base-port ${basePort}\``,
    )
  const status = await showStatus(options)
  const refuse = (has: string, wanted: string) => {
    const why = `a cluster ${has} runs in ${directory.path}`
    throw new CommandError(`${why}; use another --data-dir for another ${wanted}`)
  }
  const { n, ordering: order } = status.cluster
  if (nodes !== undefined && nodes !== n) refuse(`of ${n} nodes`, 'size')
  if (ordering !== undefined && ordering !== order) refuse(`with --ordering ${order}`, 'ordering')
  printError('This cluster was already running; `quorumscan down` stops it.')
  return marginsOf(status).lookups.works ? EXIT.done : EXIT.failed
}

function asked(options: UpOptions): ControlOptions {
  const { dataDir, redisServer, rateLimit, wipe = false, detach = false } = options
  const { nodes: nodeCount = null, ordering = null, basePort = null } = options
  const known = { dataDir, redisServer, rateLimit, wipe, detach, nodeCount, ordering, basePort }
  return controlOptions({
    ...known,
    diskFreeMibMin: options.diskFreeMin,
    logKeepSeconds: options.logKeep,
    redisMemoryMib: options.redisMemory ?? null,
    isLossAccepted: options.acceptLostUsers ?? false,
    overrides: readOverrides(options.genesisOverrides),
    probe: true,
  })
}

async function follow(launch: Launch, interrupted: Promise<'interrupted'>, options: UpOptions) {
  const readyMs = options.clock.monotonicMs()
  const first = await Promise.race([launch.ended, interrupted])
  if (first === 'interrupted') {
    printError('stopping')
    await stopCluster(options.directory, options.clock)
    await launch.ended
    printError('stopped')
    return 0
  }
  if (first.exitCode === 0) {
    printError('the cluster was stopped')
    return 0
  }
  // Killed from outside: a new control plane takes over its processes.
  const lasted = options.clock.monotonicMs() - readyMs >= CONTROL_LASTED_MS
  if (first.exitCode === null && lasted) {
    printError('the control plane was killed; restarting it')
    const sameCluster = { ...asked(options), wipe: false, overrides: null }
    const again = launchControlPlane(sameCluster, printError)
    const outcome = await Promise.race([again.ready.catch((error) => error), interrupted])
    if (outcome === undefined || outcome === 'interrupted')
      return follow(again, interrupted, options)
    printError(messageOf(outcome))
  }
  printError('the control plane crashed; ending its remaining processes')
  await stopCluster(options.directory, options.clock)
  return 1
}

/** Prints the addresses and what is not up, or the status as JSON. */
async function showStatus(options: UpOptions) {
  const status = await call(connectControl(options.directory).cluster.status.query())
  const controlUrl = readControlFile(options.directory)?.url ?? ''
  printResult(options, status, `\n${formatUp(status)}\n\n${formatSummary(status, controlUrl)}`)
  return status
}

/** Registers the seed names that do not exist yet. A failure is only reported. */
async function seedNames(options: UpOptions): Promise<void> {
  const { directory, clock } = options
  const { validator } = await call(connectControl(directory).cluster.status.query())
  printError(`registering ${SEED_LABELS.map(nameOf).join(', ')}`)
  const outcomes = await Promise.allSettled(
    SEED_LABELS.map(async (user) => {
      const known = { validatorUrl: validator.url, name: nameOf(user) }
      if (await isRegistered(known)) return
      const token = await createToken(directory, { user, clock })
      const description = 'One of the names that every new cluster starts with.'
      await registerName({ ...known, token, description, clock, onStep: () => {} })
    }),
  )
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') printError(`not registered: ${messageOf(outcome.reason)}`)
}

function nameOf(label: string): string {
  return `${label}.unverified.ns`
}

function readOverrides(file: string | undefined): GenesisOverrides | null {
  if (file === undefined) return null
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as GenesisOverrides
  } catch (error) {
    throw new CommandError(`--genesis-overrides ${file}: ${messageOf(error)}`)
  }
}
