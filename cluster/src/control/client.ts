/** How commands and tests talk to the control plane of a data directory. */
import { userInfo } from 'node:os'
import { wordOfFailure } from '@quorumscan/errors/node-words'
import { type DataDirectory, dataDirectory } from '@quorumscan/operator'
import { CommandError, SilentError, UsageError } from '@quorumscan/runtime'
import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client'
import { CALLER_HEADER } from './caller.ts'
import {
  describeRemains,
  readControlFile,
  readControlToken,
  readDeadControl,
} from './control-file.ts'
import { CODES } from './refusal.ts'
import type { AppRouter } from './router.ts'

/** The longest operation: a stop of every process that each needs its whole grace. */
const CALL_TIMEOUT_MS = 120_000

export type ControlClient = ReturnType<typeof createTRPCClient<AppRouter>>

/** A client of the running control plane. @throws {CommandError} If none runs; SilentError if it died. */
export function connectControl(
  directory: DataDirectory,
  options: { readonly timeoutMs: number } = { timeoutMs: CALL_TIMEOUT_MS },
): ControlClient {
  const running = readControlFile(directory)
  if (running === null) {
    const dead = readDeadControl(directory)
    if (dead === null)
      throw new CommandError(
        `no cluster runs in ${directory.path}: \`quorumscan up --detach\` starts one`,
      )
    throw new SilentError(
      `the control plane (process ${dead.process.pid}) died; ${describeRemains(directory)}\n` +
        '`quorumscan up --detach` takes its place, `quorumscan down` ends what is left',
    )
  }
  const token = readControlToken(directory)
  return createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${running.url}/trpc`,
        headers: { authorization: `Bearer ${token}`, [CALLER_HEADER]: nameOfSelf() },
        fetch: (url, init) =>
          fetch(url, { ...(init as RequestInit), signal: AbortSignal.timeout(options.timeoutMs) }),
      }),
    ],
  })
}

/** What a command that names a data directory asks of its control plane. @throws {CommandError} As `call`. */
export function callControl<T>(
  { dataDir }: { readonly dataDir: string },
  work: (client: ControlClient) => Promise<T>,
): Promise<T> {
  return call(work(connectControl(dataDirectory(dataDir))))
}

/** The outcome of a call, with the refusals of the control plane as errors for a person. */
export async function call<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error
    const { code } = Object(error.data)
    if (code === undefined)
      throw new SilentError(
        `the control plane does not answer (${wordOfFailure(error)}); \`quorumscan down\` ends what is left`,
        { cause: error },
      )
    const Kind =
      code === CODES.usage ? UsageError : code === CODES.silent ? SilentError : CommandError
    throw new Kind(error.message, { cause: error })
  }
}

/** For the log of the control plane. */
function nameOfSelf(): string {
  const { username } = userInfo()
  return `process ${process.pid} of ${username}`
}
