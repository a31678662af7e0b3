/** What the processes of a network have in common: what they begin with, and how they listen. */
import { rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import {
  type Clock,
  createSystemClock,
  openAll,
  openClientTls,
  type Random,
  type Running,
  readParsed,
  systemRandom,
} from '@quorumscan/base'
import { type AppConfig, certificateFilesOf, parsePeersFile } from '@quorumscan/config'
import {
  createLogger,
  createMetrics,
  judgeOwnCertificates,
  type Logger,
  openLiveFile,
  openTlsCertificate,
  type Peer,
  parsePeerTokens,
  startTracing,
  validitiesIn,
} from '@quorumscan/runtime'
import { hashGenesis, parseGenesis } from '@quorumscan/verifier'
import { defaultLimits } from './limits.ts'
import type { HttpServer } from './server.ts'

/** What tests and composed processes pass in. */
export type AppOverrides = {
  readonly clock?: Clock
  readonly random?: Random
  readonly logger?: Logger
}

type Extending<Parts> = {
  /** Called when everything is open, before the process listens: may add to the server. */
  readonly extend?: (open: { readonly server: HttpServer; readonly parts: Parts }) => void
}

export type App = Awaited<ReturnType<typeof createAppBase>>

/** The parts that all apps share. @throws {EnvError} If a file is malformed. */
export async function createAppBase(
  name: string,
  config: AppConfig &
    Parameters<typeof certificateFilesOf>[0] & {
      readonly peerTokensFile?: string | null
      /** The token with which this process follows a synchronizer, which is a peer of the process by it. */
      readonly ownTokenFile?: string | null
    },
  overrides: AppOverrides,
) {
  const clock = overrides.clock ?? createSystemClock()
  const genesis = await readParsed(config.genesisFile, (text) => parseGenesis(JSON.parse(text)))
  const logger = overrides.logger ?? createLogger({ name, level: config.logLevel })
  const metrics = createMetrics({ clock })
  const { tls, peerCa, proxies, operatorAddress } = config.connections
  /** Null: the variable is not set. */
  const liveFile = <T>(variable: string, file: string | null, parse: (text: string) => T) =>
    file === null ? null : openLiveFile({ variable, file }, parse, { clock, logger })
  const { peerTokensFile = null, ownTokenFile = null, peersFile } = config
  /** The tokens of callers with a higher rate (D-33). */
  const peerTokens = joined(
    liveFile('QS_PEER_TOKENS_FILE', peerTokensFile, parsePeerTokens),
    liveFile('QS_LOG_TOKEN_FILE', ownTokenFile, parsePeerTokens),
  )
  const peers = liveFile('QS_PEERS_FILE', peersFile, parsePeersFile)
  const certificate = tls === null ? null : await openTlsCertificate(tls, { clock, logger })
  const shown =
    certificate === null ? [] : [{ variable: 'QS_TLS_CERT', validities: certificate.validities }]
  const read = certificateFilesOf(config).map(({ variable, file }) => ({
    variable,
    validities: openLiveFile({ variable, file }, (text) => validitiesIn(variable, text), {
      clock,
      logger,
    }),
  }))
  const tracer = await startTracing({ service: name, endpoint: config.tracesEndpoint })
  const rateLimit = {
    unitsPerSecond: config.rateLimit,
    get peerTokens() {
      return peerTokens()
    },
  }
  const hasOperatorServer = operatorAddress !== null
  return {
    name,
    clock,
    random: overrides.random ?? systemRandom,
    logger,
    metrics,
    /** The options of `buildServer` that all apps share. */
    serving: { certificate, proxies, hasOperatorServer, rateLimit, clock, logger, tracer },
    /** The nodes of `QS_NODES`, each with its newest address. */
    nodes: config.nodes.map(({ name, url }) => ({
      name,
      get url() {
        return peers?.().nodes.find((node) => node.name === name)?.url ?? url
      },
    })) as readonly Peer[],
    /** The newest engine peers of `QS_PEERS_FILE`; null if it is not set. */
    enginePeers: () => peers?.().engines ?? null,
    trust: openClientTls({ ca: peerCa, own: null }),
    certificates: judgeOwnCertificates([...shown, ...read], { clock, logger, metrics }),
    tracer,
    genesis,
    genesisHash: await hashGenesis(genesis),
  }
}

/** The items of both lists: the same object until one of them is another one. */
function joined<Item>(
  one: (() => readonly Item[]) | null,
  other: (() => readonly Item[]) | null,
): () => readonly Item[] {
  const none: readonly Item[] = []
  let last = { first: none, second: none, both: none }
  return () => {
    const [first, second] = [one?.() ?? none, other?.() ?? none]
    if (first !== last.first || second !== last.second)
      last = { first, second, both: [...first, ...second] }
    return last.both
  }
}

/** A process that listens. */
export type RunningApp = Running & {
  /** Without a trailing slash. */
  readonly url: string
  /** Settles with the reason when the process cannot continue: then dispose of it, and start it again. */
  readonly failed: Promise<unknown>
}

/** What every process has open; disposing closes it. */
type OpenParts = AsyncDisposable & {
  readonly app: Pick<App, 'logger' | 'tracer'>
  readonly config: Pick<AppConfig, 'host' | 'port' | 'connections'>
  readonly failed: Promise<unknown>
}

/** `port` returns the port listened on. */
type CreateServer<Parts> = (parts: Parts, port: () => number) => HttpServer

/** The function that starts an app: opens its parts, listens, and calls `onListening`. */
export function appStarter<Config, Overrides, Parts extends OpenParts>(
  openParts: (config: Config, overrides?: Overrides) => Promise<Parts>,
  createServer: CreateServer<Parts>,
  onListening?: (parts: Parts, running: RunningApp) => void,
) {
  return async (config: Config, overrides?: Overrides & Extending<Parts>) => {
    const parts = await openParts(config, overrides)
    const running = await startApp(parts, createServer, overrides)
    onListening?.(parts, running)
    return running
  }
}

/** Listens. Disposing answers what is in progress, then closes the parts; both are closed as well if it cannot listen. */
export async function startApp<Parts extends OpenParts>(
  parts: Parts,
  createServer: CreateServer<Parts>,
  { extend }: Extending<Parts> = {},
): Promise<RunningApp> {
  const { app, config, failed } = parts
  const { logger, tracer } = app
  const { host, connections } = config
  return openAll(async (resources) => {
    resources.onClose(() => logger.info('stopped'))
    if (tracer !== null) resources.opened(tracer)
    resources.opened(parts)
    // Listening on TCP when it is called, so the address is not a text. Null once the server is closed.
    const port = () => (server.server.address() as AddressInfo | null)?.port ?? config.port
    const server: HttpServer = createServer(parts, port)
    extend?.({ server, parts })
    const { operatorAddress } = connections
    // A process that was killed leaves its socket file.
    if (operatorAddress !== null && 'path' in operatorAddress)
      rmSync(operatorAddress.path, { force: true })
    if (operatorAddress !== null)
      await resources.opened(server.buildOperatorServer()).listen({ ...operatorAddress })
    const backlog = defaultLimits.backlogMax
    const scheme = connections.tls === null ? 'http' : 'https'
    await resources.opened(server).listen({
      host,
      port: config.port,
      backlog,
      // Fastify does not see that its server speaks TLS.
      listenTextResolver: (address) =>
        `accepts connections at ${address.replace(/^https?:/, `${scheme}:`)}`,
    })
    const url = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port()}`
    logger.info({ url }, 'listening')
    return { url, failed }
  })
}
