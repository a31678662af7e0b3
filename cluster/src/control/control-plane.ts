/** The control plane: prepares the data directory, takes its place, starts the cluster and serves. */
import { once } from 'node:events'
import { type Clock, createSystemClock, waitFor } from '@quorumscan/base'
import { LOG_RULES, LOG_USER } from '@quorumscan/log'
import { createToken, type DataDirectory, dataDirectory, type Machine } from '@quorumscan/operator'
import { findEngine } from '@quorumscan/operator/engine'
import { CommandError, createLogger, identityOfDirectory, repeat } from '@quorumscan/runtime'
import { assertRedisUsable, boundLog } from '@quorumscan/supervisor'
import { TRPCError } from '@trpc/server'
import { createChaosRuns } from '../chaos/runs.ts'
import { createChaosTarget } from '../chaos/target.ts'
import { bundleOf, CONSOLE_DIRECTORY } from '../rig/built-files.ts'
import { Cluster } from '../rig/cluster.ts'
import { openClusterLog } from '../rig/log-reader.ts'
import { findTakenPort, usedPorts } from '../rig/ports.ts'
import { type Prepared, prepareCluster } from '../rig/prepare.ts'
import { lookUpAtNodes } from '../watch/at-nodes.ts'
import { type ConfirmationWatch, watchConfirmations } from '../watch/confirmations.ts'
import { startLive } from '../watch/live.ts'
import { startProber } from '../watch/prober.ts'
import { createRegistrations } from '../watch/registrations.ts'
import { createAnsConfigControl } from './ans-config.ts'
import { consoleUrl, readConsole, serveConsole } from './console-files.ts'
import { readControlFile, removeControlFile, writeControlFile } from './control-file.ts'
import { createControlMetrics } from './control-metrics.ts'
import type { ControlOptions } from './control-options.ts'
import { startControlServer } from './server.ts'

/** A killed process is a zombie at once, and closes its sockets a moment later. */
const PORTS_TIMEOUT_MS = 5000

const FORGOTTEN_CHECK_MS = 500
/** A registration takes at most a minute. */
const TOKEN_TTL_SECONDS = 600

export type ControlPlane = Awaited<ReturnType<typeof createControlPlane>>

/** Takes the control port, takes over or ends what a crashed predecessor left, and is ready to start the rest. */
export async function createControlPlane(
  options: ControlOptions,
  onStep: (sentence: string) => void,
) {
  const clock = createSystemClock()
  const directory = dataDirectory(options.dataDir)
  if (readControlFile(directory) !== null)
    throw new CommandError(`a cluster runs in ${directory.path}; \`quorumscan down\` stops it`)
  await assertRedisUsable(options.redisServer)
  // Before anything is made that would need it.
  if (options.ordering === 'cometbft') await findEngine(process.env)
  const prepared = await prepareCluster({ ...options, directory, clock })
  const isMember = prepared.genesis.ordering.driver === 'cometbft'
  const engineProgram = isMember && !options.isIdle ? await findEngine(process.env) : null
  const console = readConsole(CONSOLE_DIRECTORY)
  const logger = createLogger({ name: 'control', level: 'info' })
  const { control: port } = prepared.ports
  const { control: token } = prepared.secrets
  const stopped = new AbortController()
  const hasStopped = once(stopped.signal, 'abort')
  let isReady = false
  let cluster: Cluster | null = null
  let parts: Parts | null = null
  let stopping: Promise<void> | null = null

  const server = await startControlServer({
    ...{ port, token },
    context: () => {
      if (cluster === null || parts === null) throw starting()
      const { genesis } = prepared
      return {
        ...{ ...parts, cluster, reading: { genesis, nodes: nodesOf(prepared), clock } },
        note: (act) => logger.info(act, `${act.caller}: ${act.call}`),
        down: async () => {
          await cluster?.stop()
          void stop()
        },
      }
    },
    metrics: createControlMetrics(() => parts?.live ?? null),
    extend: async (scope) => {
      if (console !== null) await serveConsole(scope, console)
    },
  })
  const stopAll = async () => {
    await parts?.[Symbol.asyncDispose]()
    await cluster?.stop()
    if (readControlFile(directory)?.process.pid === process.pid) removeControlFile(directory)
    await server.close()
  }
  /** Stops the cluster and the server. Safe to call at any moment, and more than once. */
  const stop = () => {
    stopping ??= stopAll().finally(() => stopped.abort())
    return stopping
  }
  try {
    cluster = new Cluster({
      ...{ prepared, clock, onStep, wipe: options.wipe, adopt: true },
      topology: topologyOf(options, engineProgram),
      consoleUrl: console === null ? null : consoleUrl({ port, token }),
      onIncident: (node, sentence, kind) => {
        logger.warn({ node, kind }, sentence)
        parts?.live.noteIncident(node, sentence, kind)
      },
    })
    const { adopted, ended } = await cluster.endOthers()
    if (adopted > 0) onStep(`took over ${adopted} processes that a crash had left running`)
    if (ended > 0) onStep(`ended ${ended} processes that a crash had left running`)
    const timeoutMs = ended > 0 ? PORTS_TIMEOUT_MS : 0
    await untilPortsFree(prepared, { clock, timeoutMs, ours: cluster.portsInUse() })
    const mayProbe = options.probe ? () => isReady : null
    parts = openParts({ cluster, prepared, clock, mayProbe })
    const url = `http://127.0.0.1:${port}`
    writeControlFile(directory, url)
    const isOurs = createOwnershipCheck(directory, url)
    const look = () => (isOurs() ? boundLog(directory.logFile('control')) : void stop())
    repeat(look, { clock, everyMs: FORGOTTEN_CHECK_MS, signal: stopped.signal })
  } catch (error) {
    await stop()
    throw error
  }
  return {
    async start(): Promise<void> {
      if (!options.isIdle) await cluster?.start()
      isReady = true
    },
    stop,
    /** Resolves when it has stopped, whoever asked for it: a signal, a command, the data directory's end. */
    stopped: hasStopped,
  }
}

function starting(): TRPCError {
  const message = 'the control plane is starting'
  return new TRPCError({ code: 'SERVICE_UNAVAILABLE', message })
}

function nodesOf({ nodeNames, ports }: Prepared) {
  return nodeNames.map((name, index) => ({ name, url: `http://127.0.0.1:${ports.nodes[index]}` }))
}

type Parts = ReturnType<typeof openParts>

/** What watches the cluster, and what works on it. */
function openParts(options: {
  readonly cluster: Cluster
  readonly prepared: Prepared
  readonly clock: Clock
  /** Whether the steady lookup may begin; null: there is none. */
  readonly mayProbe: (() => boolean) | null
}) {
  const { cluster, prepared, clock, mayProbe } = options
  const { directory, genesis } = prepared
  const validatorUrl = `http://127.0.0.1:${prepared.ports.validator}`
  const nodes = nodesOf(prepared)
  let watch: ConfirmationWatch | null = null
  const live = startLive({
    ...{ cluster, clock },
    prober:
      mayProbe === null
        ? null
        : startProber({
            ...{ validatorUrl, nodes, clock, isReady: mayProbe },
            lookUp: (subject) => lookUpAtNodes({ genesis, nodes, subject, clock }),
          }),
  })
  const chaos = createChaosRuns({
    ...{ genesis, clock, directory: directory.chaosDirectory },
    target: createChaosTarget({ cluster, prepared, clock }),
  })
  const registrations = createRegistrations({
    ...{ validatorUrl, clock, nodeNames: prepared.nodeNames },
    token: (user) => createToken(directory, { user, ttlSeconds: TOKEN_TTL_SECONDS, clock }),
    watch: () => {
      watch ??= watchConfirmations(openClusterLog(prepared, clock), prepared.genesisHash)
      return watch
    },
  })
  return {
    ...{ live, chaos, registrations, ansConfig: createAnsConfigControl(prepared, { clock }) },
    async [Symbol.asyncDispose]() {
      chaos.stopRunning()
      await live.close()
      await watch?.[Symbol.asyncDispose]()
    },
  }
}

/** False once another has its place, or its data directory was deleted: then nothing can reach it. */
function createOwnershipCheck(directory: DataDirectory, url: string): () => boolean {
  const identity = identityOfDirectory(directory.path)
  return () => {
    const control = readControlFile(directory)
    if (control !== null) return control.process.pid === process.pid
    if (identity === null || identityOfDirectory(directory.path) !== identity) return false
    try {
      // The file is damaged, or another program wrote over it: commands must find us again.
      writeControlFile(directory, url)
    } catch {
      // The disk is full, or the directory read-only: it is tried again.
    }
    return true
  }
}

async function untilPortsFree(
  prepared: Prepared,
  options: {
    readonly clock: Clock
    readonly timeoutMs: number
    readonly ours: ReadonlySet<number>
  },
): Promise<void> {
  const { ports } = prepared
  const { driver } = prepared.genesis.ordering
  const isOther = (port: number) => port !== ports.control && !options.ours.has(port)
  const others = usedPorts(ports, driver).filter(isOther)
  const isFree = async () => ((await findTakenPort(others)) === undefined ? true : undefined)
  await waitFor(isFree, { ...options, what: 'free ports' }).catch(async () => {
    const taken = await findTakenPort(others)
    if (taken !== undefined)
      throw new CommandError(
        `port ${taken} is in use by another program; move the cluster with --base-port, or 0 for any`,
      )
  })
}

function topologyOf(options: ControlOptions, engineProgram: string | null) {
  const { redisServer, rateLimit, diskFreeMibMin, logKeepSeconds, isLossAccepted } = options
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('QS_'))
  const apps = ['scan', 'validator', 'synchronizer'] as const
  return {
    ...{ redisServer, rateLimit, diskFreeMibMin, logKeepSeconds, isLossAccepted, engineProgram },
    mains: Object.fromEntries(apps.map((app) => [app, bundleOf(app)])) as Machine['mains'],
    logUser: { name: LOG_USER, rules: LOG_RULES },
    env: Object.fromEntries(inherited),
  }
}
