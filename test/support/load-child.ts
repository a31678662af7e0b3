/** A process that sends GETs over several connections for a given time, each after the answer to the previous one. */
import { type Dispatcher, Pool } from 'undici'
import { again, childArgument } from './child.ts'
import { measureLoad } from './load.ts'

export type LoadArgument = {
  readonly origin: string
  readonly paths: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly connections: number
  readonly ms: number
  /** Maximum rate. Default: unlimited. */
  readonly perSecond?: number
  /** Expected status of every answer. Default: 200. */
  readonly status?: number
}

const argument = childArgument<LoadArgument>()
const { origin, paths, headers = {}, perSecond, status: wanted = 200 } = argument
const pool = new Pool(origin, { connections: argument.connections, pipelining: 1 })

/** Sends a GET. Resolves to a description of the failure, or to null. */
function get(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    let status = 0
    let text = ''
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData(_controller, chunk) {
        if (status !== wanted) text += chunk
      },
      onResponseEnd: () => resolve(status === wanted ? null : `${status} ${text}`),
      onResponseError: (_controller, error) => resolve(error.message),
    }
    pool.dispatch({ path, method: 'GET', headers }, handler)
  })
}

await again(argument, ({ connections, ms }) =>
  measureLoad({
    concurrency: connections,
    ms,
    perSecond,
    send: (index) => get(paths[index % paths.length] ?? ''),
  }),
)
