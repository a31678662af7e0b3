/** The control plane: prepares the data directory, takes it over, starts the cluster and serves. */
import { once } from 'node:events'
import { type Clock, createSystemClock, waitFor } from '@quorumscan/base'
import { LOG_RULES, LOG_USER } from '@quorumscan/log'
import { type DataDirectory, dataDirectory, type Machine } from '@quorumscan/operator'
import { findEngine } from '@quorumscan/operator/engine'
import { CommandError, createLogger, identityOfDirectory, repeat } from '@quorumscan/runtime'
import { assertRedisUsable, boundLog } from '@quorumscan/supervisor'
import { TRPCError } from '@trpc/server'
import { bundleOf, CONSOLE_DIRECTORY } from '../rig/built-files.ts'
import { findTakenPort, urlOf, usedPorts } from '../rig/ports.ts'
import type { Prepared } from '../rig/prepare.ts'
import { consoleUrl, readConsole, serveConsole } from './console-files.ts'
import { readControlFile, removeControlFile, writeControlFile } from './control-file.ts'
import { createControlMetrics } from './control-metrics.ts'
import type { ControlOptions } from './control-options.ts'
import { openParts, type Parts } from './parts.ts'
import { startControlServer } from './server.ts'
import { takePorts } from './take-ports.ts'

/** A killed process is a zombie at once, and its sockets close shortly after. */
const PORTS_TIMEOUT_MS = 5000
const OWNERSHIP_CHECK_MS = 500

export type ControlPlane = Awaited<ReturnType<typeof createControlPlane>>

/** Takes the control port, takes over or ends the processes of a control plane that crashed, and waits for `start`. */
export async function createControlPlane(
  options: ControlOptions,
  onStep: (sentence: string) => void,
) {
  const clock = createSystemClock()
  const directory = dataDirectory(options.dataDir)
  if (readControlFile(directory) !== null)
    throw new CommandError(`a cluster runs in ${directory.path}; \`quorumscan down\` stops it`)
  await assertRedisUsable(options.redisServer)
  // Before anything is made that needs it.
  if (options.ordering === 'cometbft') await findEngine(process.env)
  const console = readConsole(CONSOLE_DIRECTORY)
  const logger = createLogger({ name: 'control', level: 'info' })
  const stopped = new AbortController()
  const hasStopped = once(stopped.signal, 'abort')
  let isReady = false
  let parts: Parts | null = null
  let stopping: Promise<void> | null = null

  const { prepared, server } = await takePorts({ ...options, directory, clock }, (prepared) =>
    startControlServer({
      port: prepared.ports.control,
      token: prepared.secrets.control,
      context: () => {
        const message = 'the control plane is starting'
        if (parts === null) throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message })
        return {
          ...parts,
          logCall: (act) => logger.info(act, `${act.caller}: ${act.call}`),
          down: async () => {
            await parts?.cluster.stop()
            void stop()
          },
        }
      },
      metrics: createControlMetrics(() => parts?.live.status()),
      extend: async (scope) => {
        if (console !== null) serveConsole(scope, console)
      },
    }),
  )
  const { control: port } = prepared.ports
  const { control: token } = prepared.secrets
  const stopAll = async () => {
    await parts?.[Symbol.asyncDispose]()
    await parts?.cluster.stop()
    if (readControlFile(directory)?.process.pid === process.pid) removeControlFile(directory)
    await server.close()
  }
  /** Stops the cluster and the server. Safe to call at any time, and more than once. */
  const stop = () => {
    stopping ??= stopAll().finally(() => stopped.abort())
    return stopping
  }
  try {
    const isOrderedByMembers = prepared.genesis.ordering.driver === 'cometbft'
    const engineProgram =
      isOrderedByMembers && !options.isIdle ? await findEngine(process.env) : null
    parts = openParts({
      prepared,
      clock,
      onStep,
      wipe: options.wipe,
      topology: topologyOf(options, engineProgram),
      consoleUrl: console === null ? null : consoleUrl({ port, token }),
      mayProbe: () => options.probe && isReady,
      warn: (details, sentence) => logger.warn(details, sentence),
    })
    const { cluster } = parts
    const { adopted, ended } = await cluster.endOthers()
    if (adopted > 0) onStep(`took over ${adopted} processes that a crash had left running`)
    if (ended > 0) onStep(`ended ${ended} processes that a crash had left running`)
    const timeoutMs = ended > 0 ? PORTS_TIMEOUT_MS : 0
    await untilPortsFree(prepared, { clock, timeoutMs, own: cluster.portsInUse() })
    writeControlFile(directory, urlOf(port))
    const isOwner = createOwnershipCheck(directory, urlOf(port))
    const checkOwnership = () => (isOwner() ? boundLog(directory.logFile('control')) : void stop())
    repeat(checkOwnership, { clock, everyMs: OWNERSHIP_CHECK_MS, signal: stopped.signal })
  } catch (error) {
    await stop()
    throw error
  }
  return {
    async start(): Promise<void> {
      if (!options.isIdle) await parts?.cluster.start()
      isReady = true
    },
    stop,
    /** Resolves when it has stopped: by a signal, by a command, or because its data directory was deleted. */
    stopped: hasStopped,
  }
}

/** False once another control plane owns the directory, or it was deleted: then no command can reach this one. */
function createOwnershipCheck(directory: DataDirectory, url: string): () => boolean {
  const identity = identityOfDirectory(directory.path)
  return () => {
    const control = readControlFile(directory)
    if (control !== null) return control.process.pid === process.pid
    if (identity === null || identityOfDirectory(directory.path) !== identity) return false
    try {
      // The file is damaged, or another program overwrote it: commands need it to find this process.
      writeControlFile(directory, url)
    } catch {
      // The disk is full, or the directory read-only: the next check tries again.
    }
    return true
  }
}

async function untilPortsFree(
  { ports, genesis }: Prepared,
  options: { readonly clock: Clock; readonly timeoutMs: number; readonly own: ReadonlySet<number> },
): Promise<void> {
  const isOther = (port: number) => port !== ports.control && !options.own.has(port)
  const others = usedPorts(ports, genesis.ordering.driver).filter(isOther)
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
  const apps = ['scan', 'validator', 'synchronizer'] as const
  const entryFiles = Object.fromEntries(apps.map((app) => [app, bundleOf(app)]))
  const programs = { engineProgram, entryFiles: entryFiles as Machine['entryFiles'] }
  const logUser = { name: LOG_USER, rules: LOG_RULES }
  const { QS_INSPECT: inspected } = process.env
  return { ...options, ...programs, logUser, env: Object.fromEntries(inherited), inspected }
}
