/** The operator's listener of `run`: the metrics of all its processes, and the health of the one that serves others. */
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type Clock, held, singleFlight } from '@quorumscan/base'
import { CommandError, createMetrics, messageOf } from '@quorumscan/runtime'
import { answerClientError, createLocalListener, securityHeaders } from '@quorumscan/server'
import type { Service, ServiceRunner } from '@quorumscan/supervisor'
import type { Console } from '../console/console.ts'

/** A process that hangs must not delay the metrics of the others: a scrape ends after 5 s. */
const ANSWER_MS_MAX = 2000
/** Of a path that is passed on. A busy process answers late; who asks has a limit of its own. */
const PASSED_MS_MAX = 15_000
/** A monitoring system has few connections. A new one takes the slot of the longest idle one. */
const CONNECTIONS_MAX = 64
const LIMITS = {
  connectionsMax: CONNECTIONS_MAX,
  connectionsPerClientMax: CONNECTIONS_MAX,
  connectionsPerNetworkMax: CONNECTIONS_MAX,
}
/** What the listener serves is read. */
const METHODS = ['GET', 'HEAD']

/** The head of a sample: its metric, and the bracket of its labels. A sample that names its process is left as it is. */
const SAMPLE = /^(\w+)(?:(\{)(?!process=)|(?= ))/

/**
 * One exposition of several, in the text format of prom-client. Each sample gets the label `process`. Each metric is
 * described once, as the format requires.
 *
 * @param textOf - The expositions by the names of their processes.
 */
export function mergeMetrics(textOf: ReadonlyMap<string, string>): string {
  const samplesOf = new Map<string, string[]>()
  for (const [process, exposition] of textOf)
    for (const metric of exposition.trim().split('\n\n')) {
      const [help, type, ...samples] = metric.split('\n')
      const known = samplesOf.get(`${help}\n${type}`) ?? []
      samplesOf.set(`${help}\n${type}`, known)
      for (const sample of samples)
        known.push(
          sample.replace(
            SAMPLE,
            (_, name, bracket) => `${name}{process="${process}"${bracket ? ',' : '}'}`,
          ),
        )
    }
  return [...samplesOf].map(([about, samples]) => `${[about, ...samples].join('\n')}\n`).join('\n')
}

/**
 * Listens until it is disposed of. Answers `/metrics` and `/console` itself, and passes every other path on to the process that has the
 * name of the operator.
 *
 * @throws {CommandError} If the address cannot be listened on.
 */
export async function openOperatorListener(options: {
  readonly name: string
  readonly address: { readonly host: string; readonly port: number }
  readonly services: readonly Pick<Service, 'app' | 'redis' | 'isExternal'>[]
  readonly processes: Pick<ServiceRunner['processes'], 'state'>
  /** The socket on which a process serves its metrics and its health. */
  readonly socketOf: (process: string) => string
  /** Makes the console of these metrics; null: there is none. */
  readonly makeConsole?: ((readMetrics: () => Promise<string>) => Console) | null
  readonly clock: Clock
}): Promise<AsyncDisposable> {
  const { name, address, services, processes, socketOf, makeConsole = null } = options
  const metrics = createMetrics(options)
  const textOf = held(
    {
      owner: 'operator',
      name: 'metrics of processes',
      kind: 'state',
      bound: 'one of each process',
    },
    new Map<string, string>(),
  )
  const redisIds = services.flatMap(({ redis, isExternal }) => (isExternal ? [] : [redis.id]))
  metrics.sampled('gauge', {
    name: 'process_up',
    help: '1 for a process of `quorumscan run` that serves its metrics, or, for a Redis, that is running.',
    labels: ['process'],
    read: () => [
      ...services.map(({ app }) => [[app.id], Number(textOf.has(app.id))] as const),
      ...Array.from(new Set(redisIds), (id) => {
        return [[id], Number(processes.state(id) === 'running')] as const
      }),
    ],
  })
  const scrape = singleFlight(async () => {
    textOf.clear()
    const read = async ({ app: { id } }: Pick<Service, 'app'>) => {
      const answer = await ask(socketOf(id), '/metrics').catch(() => null)
      if (answer?.statusCode === 200) textOf.set(id, await text(answer))
    }
    // A process that does not answer has no metrics, and `process_up` is 0.
    await Promise.allSettled(services.map(read))
    const { contentType, text: own } = await metrics.expose()
    return { contentType, body: mergeMetrics(new Map([...textOf, [`${name}.run`, own]])) }
  })
  const ownConsole = makeConsole?.(async () => (await scrape()).body) ?? null
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '/' } = incoming
    if (!METHODS.includes(method)) {
      response.writeHead(405, { allow: METHODS.join(', ') }).end()
      return
    }
    const [path = ''] = url.split('?', 1)
    if (await ownConsole?.answer(path, incoming, response)) return
    if (path === '/metrics') {
      const { contentType, body } = await scrape()
      response.writeHead(200, { 'content-type': contentType }).end(body)
      return
    }
    const passed = await ask(socketOf(name), url, PASSED_MS_MAX).catch(() => null)
    // As a gateway: a refusal of the process itself is 503.
    if (passed === null) {
      response.writeHead(502).end()
      return
    }
    response.writeHead(passed.statusCode ?? 502, passed.headers)
    await pipeline(passed, response)
  }
  const server = createLocalListener(
    (incoming, response) => {
      for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
      answer(incoming, response).catch(() => {
        if (response.headersSent) response.destroy()
        else response.writeHead(503).end()
      })
    },
    { limits: LIMITS, clock: options.clock },
  )
  server.on('clientError', answerClientError)
  server.listen(address)
  await once(server, 'listening').catch((cause: unknown) => {
    throw new CommandError(
      `QS_OPERATOR_ADDRESS cannot be listened on (${messageOf(cause)}): nothing was started`,
      { cause },
    )
  })
  return {
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections()
    },
  }
}

/** GET at a process on this machine. @throws {Error} Without an answer in time. */
async function ask(
  socketPath: string,
  path: string,
  timeoutMs = ANSWER_MS_MAX,
): Promise<IncomingMessage> {
  const signal = AbortSignal.timeout(timeoutMs)
  const sent = request({ socketPath, path, signal, agent: false })
  sent.on('error', () => {}) // Also after the response: then reading it fails.
  const [answer] = await once(sent.end(), 'response')
  return answer
}
