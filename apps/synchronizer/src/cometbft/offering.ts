/**
 * Offering entries to the engine, and waiting until they are in a block that this member has published. What the
 * engine answers is only whether it takes the bytes; what is accepted is what was ordered.
 */
import { type Clock, sha256Hex } from '@quorumscan/base'
import { catalogue, type ErrorCode, ScanError } from '@quorumscan/errors'
import { EngineRefusedError, type EngineRpc, EngineUnavailableError } from './engine-rpc.ts'

/** Two dozen blocks: where none comes, the submitter asks again. */
const WAIT_MS = 10_000
/** More than the engine keeps. */
const WAITING_MAX = 10_000
/** The engine's own words, of its mempool. */
const HAS_IT = 'tx already exists in cache'
const IS_FULL = 'mempool is full'

export type Offering = {
  /**
   * Resolves when the entry is in the log.
   *
   * @throws {ScanError} What refuses it, OVERLOADED; DEPENDENCY_UNAVAILABLE (unknown: offer the same bytes again).
   */
  offer(bytes: Uint8Array): Promise<void>
  /** Tells those who wait for it that an entry is in the log. */
  ordered(entryHash: string): void
}

export function createOffering(options: {
  readonly rpc: EngineRpc
  readonly isOrdered: (entryHash: string) => boolean
  readonly clock: Clock
}): Offering {
  const { rpc, isOrdered, clock } = options
  const waitingByHash = new Map<string, Set<() => void>>()
  let waitingCount = 0

  const waitFor = async (entryHash: string, bytes: Uint8Array): Promise<void> => {
    const arrived = new AbortController()
    const arrive = () => arrived.abort()
    const waiting = waitingByHash.get(entryHash) ?? new Set()
    waitingByHash.set(entryHash, waiting.add(arrive))
    waitingCount++
    try {
      await hand(rpc, bytes, () => isOrdered(entryHash))
      if (isOrdered(entryHash)) return
      await clock.delay(WAIT_MS, arrived.signal).catch(() => {}) // It is there, earlier than that.
      if (!arrived.signal.aborted) throw unknown('the entry was not ordered in time')
    } finally {
      waitingCount--
      waiting.delete(arrive)
      if (waiting.size === 0) waitingByHash.delete(entryHash)
    }
  }

  return {
    async offer(bytes) {
      const entryHash = sha256Hex(bytes)
      if (isOrdered(entryHash)) return
      if (waitingCount >= WAITING_MAX)
        throw new ScanError('OVERLOADED', 'too many entries wait for the log')
      await waitFor(entryHash, bytes)
    },
    ordered(entryHash) {
      for (const arrive of waitingByHash.get(entryHash) ?? []) arrive()
    },
  }
}

/** Resolves when the engine has the entry, whoever gave it. */
async function hand(rpc: EngineRpc, bytes: Uint8Array, isOrdered: () => boolean): Promise<void> {
  try {
    const tx = Buffer.from(bytes).toString('base64')
    const { code, codespace, log } = Object(await rpc.call('broadcast_tx_sync', { tx }))
    if (code === 0 || isOrdered()) return
    if (typeof codespace === 'string' && Object.hasOwn(catalogue, codespace))
      throw new ScanError(codespace as ErrorCode, String(log)) // A member of the catalogue, as just seen.
    throw unknown(`the engine refuses the entry: ${String(log)}`)
  } catch (error) {
    if (error instanceof EngineUnavailableError) throw unknown('the engine is not available', error)
    if (!(error instanceof EngineRefusedError)) throw error
    if (error.message.includes(HAS_IT)) return
    if (error.message.includes(IS_FULL))
      throw new ScanError('OVERLOADED', 'too many entries wait for the log', { cause: error })
    throw unknown('the engine did not take the entry', error)
  }
}

function unknown(message: string, cause?: unknown): ScanError {
  return new ScanError('DEPENDENCY_UNAVAILABLE', message, { cause, retryAfterSeconds: 1 })
}
