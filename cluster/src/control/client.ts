/** The client of the control plane of a data directory, for commands and tests. */

import { userInfo } from 'node:os'
import { type Clock, waitFor } from '@quorumscan/base'
import { describeFailure } from '@quorumscan/errors/node-words'
import { type DataDirectory, dataDirectory } from '@quorumscan/operator'
import { readAtMost } from '@quorumscan/reader'
import { CommandError, NoReplyError, UsageError } from '@quorumscan/runtime'
import { membersOf } from '@quorumscan/verifier'
import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client'
import type { RunState } from '../judge/chaos/runs.ts'
import type { Scenario } from '../judge/chaos/schedule.ts'
import { CALLER_HEADER, CODES } from './calls.ts'
import { describeRemains, readControlFile, readControlToken } from './control-file.ts'
import type { AppRouter } from './router.ts'

/** How often the state of a chaos run is read. */
const CHAOS_POLL_MS = 250
/** The longest call stops every process after its whole grace period. */
const CALL_TIMEOUT_MS = 120_000
/** Far above the status of the largest cluster, with its events. */
const REPLY_BYTES_MAX = 32 * 2 ** 20

export type ControlClient = ReturnType<typeof createTRPCClient<AppRouter>>

/** A client of the running control plane. @throws {CommandError} If none runs; NoReplyError if it crashed. */
export function connectControl(
  directory: DataDirectory,
  options: { readonly timeoutMs: number } = { timeoutMs: CALL_TIMEOUT_MS },
): ControlClient {
  const running = readControlFile(directory)
  if (running === null) {
    const crashed = readControlFile(directory, true)
    if (crashed === null)
      throw new CommandError(
        `no cluster runs in ${directory.path}: \`quorumscan up --detach\` starts one`,
      )
    throw new NoReplyError(
      `the control plane (process ${crashed.process.pid}) has crashed; ${describeRemains(directory)}\n` +
        '`quorumscan up --detach` takes over, `quorumscan down` ends the remaining processes',
    )
  }
  const link = httpLink({
    url: `${running.url}/trpc`,
    headers: {
      authorization: `Bearer ${readControlToken(directory)}`,
      [CALLER_HEADER]: `process ${process.pid} of ${userInfo().username}`,
    },
    async fetch(url, init) {
      const signal = AbortSignal.timeout(options.timeoutMs)
      const response = await fetch(url, { ...(init as RequestInit), signal })
      // Another program may have taken the port.
      const body = await readAtMost(response, { bytesMax: REPLY_BYTES_MAX, signal })
      return new Response(body, { status: response.status, headers: response.headers })
    },
  })
  return createTRPCClient<AppRouter>({ links: [link] })
}

/** Calls the control plane of a command's data directory. @throws {CommandError} As `call`. */
export function callControl<T>(
  { dataDir }: { readonly dataDir: string },
  work: (client: ControlClient) => Promise<T>,
): Promise<T> {
  return call(work(connectControl(dataDirectory(dataDir))))
}

/** The status of the cluster in a command's data directory. @throws {CommandError} As `call`. */
export function statusOf(options: { readonly dataDir: string }) {
  return callControl(options, ({ cluster }) => cluster.status.query())
}

/** The outcome of a call, with the refusals of the control plane as errors for a person. */
export async function call<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error
    const { code } = membersOf(error.data)
    if (code === undefined)
      throw new NoReplyError(
        `the control plane does not answer (${describeFailure(error)}); \`quorumscan down\` ends the remaining processes`,
        { cause: error },
      )
    const Kind =
      code === CODES.usage ? UsageError : code === CODES.silent ? NoReplyError : CommandError
    throw new Kind(error.message, { cause: error })
  }
}

/** The options of a chaos run. */
export type ChaosOptions = (
  | Parameters<ControlClient['chaos']['start']['mutate']>[0]
  | { readonly scenario: Scenario }
) & {
  /** Receives each step. */
  readonly onProgress?: (sentence: string) => void
}

/** Starts a chaos run, and returns when it is over, whatever its verdict. @throws {CommandError} If it cannot start. */
export async function runChaosOn(
  client: ControlClient,
  options: ChaosOptions & { readonly clock: Clock },
): Promise<RunState> {
  const { onProgress, clock, ...asked } = options
  const { replay, start } = client.chaos
  const starting = 'scenario' in asked ? replay.mutate(asked.scenario) : start.mutate(asked)
  const started = await call(starting)
  let sentence = ''
  const poll = async () => {
    const state = await call(client.chaos.get.query({ id: started.id }))
    if (state.state !== 'running') return state
    if (state.sentence !== sentence) onProgress?.(state.sentence)
    sentence = state.sentence
  }
  const timeoutMs = Number.POSITIVE_INFINITY // A run has an end of its own.
  return await waitFor(poll, { clock, timeoutMs, intervalMs: CHAOS_POLL_MS, what: 'the chaos run' })
}
