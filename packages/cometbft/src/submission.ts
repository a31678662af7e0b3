/**
 * Offering entries to the engine, and waiting until they are in a block that this member has published. What the
 * engine answers is only whether it takes the bytes; what is accepted is what was ordered.
 */
import { once } from 'node:events'
import { type Clock, sha256Hex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { EntryRefusal } from '@quorumscan/log'
import { BUNDLE_ENTRIES_MAX, countThatFits } from './bundles.ts'
import { EngineRefusedError, type EngineRpc, EngineUnavailableError } from './engine-rpc.ts'

/** Two dozen blocks: where none comes, the submitter asks again. */
const WAIT_MS = 10_000
/** More than the engine keeps. */
const WAITING_MAX = 10_000
/** From one bundle to the next: who submits alone waits for nothing, and many go together. */
const BETWEEN_MS = 25
/** The engine's own words, of its mempool. */
const HAS_IT = 'tx already exists in cache'
const IS_FULL = 'mempool is full'

/** @param options.admit - Why this member does not admit the entry, or null. */
export function createSubmission(options: {
  readonly rpc: EngineRpc
  readonly isOrdered: (entryHash: string) => boolean
  readonly admit: (bytes: Uint8Array) => EntryRefusal | null
  /** Makes a bundle of these entries, which fit. */
  readonly bundle: (entries: readonly Uint8Array[]) => Uint8Array
  readonly clock: Clock
}) {
  const { isOrdered, clock } = options
  const waitingByHash = new Map<string, Set<() => void>>()
  let waitingCount = 0
  const send = createBundleSender(options)

  const waitFor = async (entryHash: string, bytes: Uint8Array): Promise<void> => {
    const arrived = new AbortController()
    const arrive = () => arrived.abort()
    const waiting = waitingByHash.get(entryHash) ?? new Set()
    waitingByHash.set(entryHash, waiting.add(arrive))
    waitingCount++
    try {
      // It may be there before this member has sent it over: others had it, too.
      const failure = await Promise.race([send(entryHash, bytes), once(arrived.signal, 'abort')])
      if (isOrdered(entryHash)) return
      if (failure instanceof ScanError) throw failure
      await clock.delay(WAIT_MS, arrived.signal).catch(() => {}) // It is there, earlier than that.
      if (!arrived.signal.aborted) throw unknown('the entry was not ordered in time')
    } finally {
      waitingCount--
      waiting.delete(arrive)
      if (waiting.size === 0) waitingByHash.delete(entryHash)
    }
  }

  return {
    /**
     * Resolves when the entry is in the log.
     *
     * @throws {ScanError} What refuses it, OVERLOADED; DEPENDENCY_UNAVAILABLE (unknown: offer the same bytes again).
     */
    async submit(bytes: Uint8Array): Promise<void> {
      const entryHash = sha256Hex(bytes)
      if (isOrdered(entryHash)) return
      if (waitingCount >= WAITING_MAX)
        throw new ScanError('OVERLOADED', 'too many entries wait for the log')
      const refusal = options.admit(bytes)
      if (refusal !== null) throw new ScanError(refusal.code, refusal.message)
      await waitFor(entryHash, bytes)
    },
    /** Tells those who wait for it that an entry is in the log. */
    ordered(entryHash: string): void {
      for (const arrive of waitingByHash.get(entryHash) ?? []) arrive()
    },
  }
}

type Queued = {
  readonly bytes: Uint8Array
  readonly sent: Promise<ScanError | null>
  readonly settle: (failure: ScanError | null) => void
}

/**
 * Hands entries to the engine, a bundle at a time: what comes while one is under way makes up the next. Resolves when
 * the engine has the entry, whoever gave it, or with the reason why that is not known.
 */
function createBundleSender({
  rpc,
  bundle: makeBundle,
  clock,
}: {
  readonly rpc: EngineRpc
  readonly bundle: (entries: readonly Uint8Array[]) => Uint8Array
  readonly clock: Clock
}): (entryHash: string, bytes: Uint8Array) => Promise<ScanError | null> {
  const queuedByHash = new Map<string, Queued>()
  let isSending = false

  const sendAll = async (): Promise<void> => {
    isSending = true
    while (queuedByHash.size > 0) {
      const bundle = firstBundle(queuedByHash)
      for (const [entryHash] of bundle) queuedByHash.delete(entryHash)
      const between = clock.delay(BETWEEN_MS)
      const failure = await sendBundle(rpc, makeBundle(bundle.map(([, { bytes }]) => bytes)))
      for (const [, { settle }] of bundle) settle(failure)
      await between
    }
    isSending = false
  }

  return (entryHash, bytes) => {
    const queued = queuedByHash.get(entryHash)
    if (queued !== undefined) return queued.sent
    let settle = (_failure: ScanError | null) => {}
    const sent = new Promise<ScanError | null>((resolve) => {
      settle = resolve
    })
    queuedByHash.set(entryHash, { bytes, sent, settle })
    if (!isSending) void sendAll()
    return sent
  }
}

function firstBundle(
  queuedByHash: ReadonlyMap<string, Queued>,
): readonly (readonly [string, Queued])[] {
  const first: (readonly [string, Queued])[] = []
  for (const queued of queuedByHash) {
    first.push(queued)
    if (first.length === BUNDLE_ENTRIES_MAX) break
  }
  return first.slice(0, countThatFits(first.map(([, { bytes }]) => bytes)))
}

async function sendBundle(rpc: EngineRpc, bundle: Uint8Array): Promise<ScanError | null> {
  try {
    const tx = Buffer.from(bundle).toString('base64')
    const { code, log } = Object(await rpc.call('broadcast_tx_sync', { tx }))
    return code === 0 ? null : unknown(`the engine refuses the entry: ${String(log)}`)
  } catch (error) {
    if (error instanceof EngineUnavailableError)
      return unknown('the engine is not available', error)
    if (!(error instanceof EngineRefusedError)) return unknown('the engine cannot be asked', error)
    if (error.message.includes(HAS_IT)) return null
    if (error.message.includes(IS_FULL))
      return new ScanError('OVERLOADED', 'too many entries wait for the log', { cause: error })
    return unknown('the engine did not take the entry', error)
  }
}

function unknown(message: string, cause?: unknown): ScanError {
  return new ScanError('DEPENDENCY_UNAVAILABLE', message, { cause, retryAfterSeconds: 1 })
}
