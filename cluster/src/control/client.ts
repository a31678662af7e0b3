/** How commands and tests talk to the control plane of a data directory. */
import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client'
import { ClusterError } from '../cluster-error.ts'
import type { DataDirectory } from '../data-directory.ts'
import { readControlFile, readControlToken, readDeadControl } from './control-file.ts'
import { describeRemains } from './remains.ts'
import type { AppRouter } from './router.ts'

/** The longest operation: a stop of every process that each needs its whole grace. */
const CALL_TIMEOUT_MS = 120_000

export type ControlClient = ReturnType<typeof createTRPCClient<AppRouter>>

/** A client of the running control plane. @throws {ClusterError} If none runs; it names one that died. */
export function connectControl(
  directory: DataDirectory,
  options: { readonly timeoutMs: number } = { timeoutMs: CALL_TIMEOUT_MS },
): ControlClient {
  const running = readControlFile(directory)
  if (running === null) {
    const dead = readDeadControl(directory)
    throw new ClusterError(
      dead === null
        ? `no cluster runs in ${directory.path}: run \`npm start\` first`
        : `the control plane (process ${dead.process.pid}) died; ${describeRemains(directory)}\n` +
            '`quorumscan up` takes its place, `quorumscan down` ends what is left',
    )
  }
  const token = readControlToken(directory)
  return createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${running.url}/trpc`,
        headers: { authorization: `Bearer ${token}` },
        fetch: (url, init) =>
          fetch(url, { ...(init as RequestInit), signal: AbortSignal.timeout(options.timeoutMs) }),
      }),
    ],
  })
}

/** The outcome of a call, with the refusals of the control plane as errors for a person. */
export async function call<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error
    throw new ClusterError(
      error.data === undefined || error.data === null
        ? `the control plane does not answer (${error.message}); \`quorumscan down\` ends what is left`
        : error.message,
      { cause: error },
    )
  }
}
