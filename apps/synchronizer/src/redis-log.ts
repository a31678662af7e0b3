/** The log of one synchronizer, which signs its groups, in a Redis that only it may write. */
import { openAll, readKeyPair } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import {
  createLogWriter,
  type LogFeed,
  type LogWriter,
  type OrderedLog,
  trimLog,
  watchChain,
} from '@quorumscan/log'
import type { RedisAddress } from '@quorumscan/redis'
import type { PeerClocks } from '@quorumscan/runtime'
import type { App } from '@quorumscan/server'
import { memberSetOf } from '@quorumscan/verifier'

/**
 * Waits for the log's Redis. Disposing commits what waits.
 *
 * @throws {LogConfigError} If it could lose what it acknowledged, or the key is not the genesis's.
 */
export async function openRedisLog(
  app: App,
  options: {
    readonly keyFile: string
    readonly redis: RedisAddress
    readonly feed: Pick<LogFeed, 'publish'>
    readonly clocks: Pick<PeerClocks, 'readings'>
    readonly signal: AbortSignal
  },
): Promise<OrderedLog> {
  const { clock, random, logger, metrics, genesis, genesisHash } = app
  const confirmationsMin = memberSetOf(genesis).f + 1
  const keyPair = await readKeyPair(options.keyFile)
  const log = { redis: options.redis, genesis: { ...genesis, hash: genesisHash } }

  return openAll(async (resources) => {
    const writer = resources.opened(
      await createLogWriter({
        ...log,
        keyPair,
        clock,
        random,
        confirmingNodes: {
          confirmationsMin,
          answersExpected: memberSetOf(genesis).n - confirmationsMin + 1,
          readings: options.clocks.readings,
        },
        signal: options.signal,
        onCommitted: options.feed.publish,
        onProblem: (error) => logger.warn({ err: error }, 'the log is not available'),
      }),
    )
    const chain = resources.opened(watchChain({ log, clock, logger, metrics }))
    return {
      append: writer.append,
      head: writer.head,
      trim: (before, signal) => trimLog({ ...log, before, signal }),
      async answerRead() {
        throw new ScanError('ROUTE_NOT_FOUND', 'no engine orders this log')
      },
      refusal: writer.refusal,
      assertReady: () => assertReady(writer),
      ordering: () => null,
      // Followers detect two groups for one offset.
      evidence: () => [],
      state: () => stateOf(writer),
      detail() {
        const sentences = [writer.refusal()?.message, chain.detail()]
        return sentences.filter((one) => one != null).join(' ') || null
      },
      finished: writer.finished,
    }
  })
}

/** @throws {ScanError} Why nothing is appended. */
function assertReady(writer: LogWriter): void {
  const state = writer.state()
  if (state === 'unavailable')
    throw new ScanError('DEPENDENCY_UNAVAILABLE', "the log's Redis is not available", {
      retryAfterSeconds: 1,
    })
  if (state !== 'ready')
    throw new ScanError('NOT_READY', 'the synchronizer is stopping', { details: { state } })
  const refusal = writer.refusal()
  if (refusal !== null) throw refusal
}

function stateOf(writer: LogWriter): string {
  const state = writer.state()
  if (state !== 'ready') return state
  return writer.refusal() === null ? 'live' : 'paused'
}
