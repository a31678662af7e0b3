/** The control plane: prepares the data directory, takes its place, starts the cluster and serves. */
import { type Clock, createSystemClock, waitFor } from '@quorumscan/base'
import { LOG_RULES, LOG_USER } from '@quorumscan/log'
import { createToken, dataDirectory } from '@quorumscan/operator'
import { findEngine } from '@quorumscan/operator/engine'
import { CommandError, createLogger, identityOfDirectory } from '@quorumscan/runtime'
import { assertRedisUsable, boundLog } from '@quorumscan/supervisor'
import { TRPCError } from '@trpc/server'
import type { FastifyInstance } from 'fastify'
import { bundleOf, CONSOLE_DIRECTORY } from '../built-files.ts'
import { type ChaosRuns, createChaosRuns } from '../chaos/runs.ts'
import { Cluster } from '../cluster.ts'
import { consoleUrl, readConsole, serveConsole } from '../console/console-files.ts'
import { openClusterLog } from '../log-reader.ts'
import { findTakenPort, usedPorts } from '../ports.ts'
import { type Prepared, prepareCluster } from '../prepare.ts'
import { lookUpAtNodes } from '../watch/at-nodes.ts'
import { type ConfirmationWatch, watchConfirmations } from '../watch/confirmations.ts'
import { type Live, startLive } from '../watch/live.ts'
import { startProber } from '../watch/prober.ts'
import { createRegistrations } from '../watch/registrations.ts'
import { createAnsConfigControl } from './ans-config.ts'
import { createChaosTarget } from './chaos-target.ts'
import {
  readControlFile,
  removeControlFile,
  tryToWriteControlFile,
  writeControlFile,
} from './control-file.ts'
import { createControlMetrics } from './control-metrics.ts'
import type { ControlOptions } from './control-options.ts'
import { startControlServer } from './server.ts'

/** A killed process is a zombie at once, and closes its sockets a moment later. */
const PORTS_TIMEOUT_MS = 5000

const FORGOTTEN_CHECK_MS = 500
/** A registration takes at most a minute. */
const TOKEN_TTL_SECONDS = 600

export type ControlPlane = {
  readonly start: () => Promise<void>
  /** Stops the cluster and the server. Safe to call at any moment, and more than once. */
  readonly stop: () => Promise<void>
  /** Resolves when it has stopped, whoever asked for it: a signal, a command, the data directory's end. */
  readonly stopped: Promise<void>
}

/** Takes the control port, takes over or ends what a crashed predecessor left, and is ready to start the rest. */
export async function createControlPlane(
  options: ControlOptions,
  onStep: (sentence: string) => void,
): Promise<ControlPlane> {
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
  let cluster: Cluster | null = null
  let live: Live | null = null
  let chaos: ChaosRuns | null = null
  let stopping: Promise<void> | null = null
  let tellStopped = () => {}
  const stopped = new Promise<void>((resolve) => {
    tellStopped = resolve
  })
  const nodes = prepared.nodeNames.map((name, index) => ({
    name,
    url: `http://127.0.0.1:${prepared.ports.nodes[index]}`,
  }))
  const ansConfig = createAnsConfigControl(prepared, { clock })
  const console = readConsole(CONSOLE_DIRECTORY)
  let watch: ConfirmationWatch | null = null
  const registrations = createRegistrations({
    validatorUrl: `http://127.0.0.1:${prepared.ports.validator}`,
    nodeNames: prepared.nodeNames,
    token: (user) => createToken(directory, { user, ttlSeconds: TOKEN_TTL_SECONDS, clock }),
    watch: () => {
      if (cluster === null) throw new CommandError('the control plane is starting')
      watch ??= watchConfirmations(openClusterLog(prepared, clock), prepared.genesisHash)
      return watch
    },
    clock,
  })
  const logger = createLogger({ name: 'control', level: 'info' })
  const server = await startControlServer({
    port: prepared.ports.control,
    token: prepared.secrets.control,
    context: () => {
      if (cluster === null || live === null || chaos === null)
        throw new TRPCError({
          code: 'SERVICE_UNAVAILABLE',
          message: 'the control plane is starting',
        })
      return {
        cluster,
        live,
        chaos,
        registrations,
        reading: { genesis: prepared.genesis, nodes, clock },
        ansConfig,
        note: (act) => logger.info(act, `${act.caller}: ${act.call}`),
        down: async () => {
          await cluster?.stop()
          void stop()
        },
      }
    },
    metrics: createControlMetrics(() => live),
    extend: async (scope) => {
      if (console !== null) await serveConsole(scope, console)
    },
  })
  const ended = new AbortController()
  let tellReady = () => {}
  const ready = new Promise<void>((resolve) => {
    tellReady = resolve
  })
  const stop = () => {
    stopping ??= stopAll(server, { cluster, live, chaos, watch, prepared }).finally(tellStopped)
    ended.abort()
    return stopping
  }
  const controlUrl = `http://127.0.0.1:${prepared.ports.control}`
  /** A cluster whose data directory was deleted can be reached by nobody any more. */
  const stopWhenForgotten = async () => {
    const identity = identityOfDirectory(directory.path)
    const isOurs = () => {
      const control = readControlFile(directory)
      if (control !== null) return control.process.pid === process.pid
      if (identity === null || identityOfDirectory(directory.path) !== identity) return false
      // Somebody damaged the file, or wrote over it: commands must find us again.
      tryToWriteControlFile(directory, controlUrl)
      return true
    }
    while (stopping === null && isOurs()) {
      boundLog(directory.logFile('control'))
      await clock.delay(FORGOTTEN_CHECK_MS, ended.signal).catch(() => {}) // Stopped: the loop ends.
    }
    await stop()
  }
  try {
    cluster = new Cluster({
      prepared,
      topology: topologyOf(options, engineProgram),
      wipe: options.wipe,
      adopt: true,
      consoleUrl:
        console === null
          ? null
          : consoleUrl({ port: prepared.ports.control, token: prepared.secrets.control }),
      clock,
      onStep,
      onIncident: (node, sentence, kind) => {
        logger.warn({ node, kind }, sentence)
        live?.noteIncident(node, sentence, kind)
      },
    })
    const { adopted, ended } = await cluster.endOthers()
    if (adopted > 0) onStep(`took over ${adopted} processes that a crash had left running`)
    if (ended > 0) onStep(`ended ${ended} processes that a crash had left running`)
    await untilPortsFree(prepared, {
      clock,
      timeoutMs: ended > 0 ? PORTS_TIMEOUT_MS : 0,
      ours: cluster.portsInUse(),
    })
    live = startLive({
      cluster,
      clock,
      prober: options.probe
        ? startProber({
            validatorUrl: `http://127.0.0.1:${prepared.ports.validator}`,
            nodes,
            lookUp: (subject) =>
              lookUpAtNodes({ genesis: prepared.genesis, nodes, subject, clock }),
            clock,
            after: ready,
          })
        : null,
    })
    chaos = createChaosRuns({
      target: createChaosTarget({ cluster, prepared, clock }),
      genesis: prepared.genesis,
      directory: directory.chaosDirectory,
      clock,
    })
    writeControlFile(directory, controlUrl)
    void stopWhenForgotten()
  } catch (error) {
    await stop()
    throw error
  }
  const start = async () => {
    if (!options.isIdle) await cluster?.start()
    tellReady()
  }
  return { start, stop, stopped }
}

async function stopAll(
  server: FastifyInstance,
  parts: {
    readonly cluster: Cluster | null
    readonly live: Live | null
    readonly chaos: ChaosRuns | null
    readonly watch: ConfirmationWatch | null
    readonly prepared: Prepared
  },
): Promise<void> {
  const { cluster, live, chaos, watch, prepared } = parts
  chaos?.stopRunning()
  await live?.close()
  await watch?.[Symbol.asyncDispose]()
  await cluster?.stop()
  if (readControlFile(prepared.directory)?.process.pid === process.pid)
    removeControlFile(prepared.directory)
  await server.close()
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
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('QS_'))
  return {
    redisServer: options.redisServer,
    rateLimit: options.rateLimit,
    diskFreeMibMin: options.diskFreeMibMin,
    logKeepSeconds: options.logKeepSeconds,
    isLossAccepted: options.isLossAccepted,
    mains: {
      scan: bundleOf('scan'),
      validator: bundleOf('validator'),
      synchronizer: bundleOf('synchronizer'),
    },
    logUser: { name: LOG_USER, rules: LOG_RULES },
    engineProgram,
    env: Object.fromEntries(inherited),
  }
}
