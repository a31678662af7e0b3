/**
 * Submits entries to the engine, and waits until they are in a block that this member has published. The engine only
 * answers whether it keeps the bytes. An entry is accepted when it is ordered.
 */

import { once } from 'node:events'
import {
  type Clock,
  createShares,
  held,
  membersOf,
  sha256Hex,
  withResolvers,
} from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { EntryRefusal } from '@quorumscan/log'
import { ZodError } from 'zod'
import { BUNDLE_ENTRIES_MAX, countThatFits } from './bundles.ts'
import { readAdmission } from './engine-answers.ts'
import { EngineRefusedError, type EngineRpc, EngineUnavailableError } from './engine-rpc.ts'

/** Two dozen blocks. If none comes, the submitter repeats the request. */
const WAIT_MS = 10_000
/** More than the engine keeps. Senders share it. */
const WAITING_MAX = 10_000
/** Twice what the engine keeps (`engine-files.ts`). */
const WAITING_BYTES_MAX = 64 * 1024 * 1024
/** The time from one bundle to the next. A single submission does not wait, and many share a bundle. */
const BUNDLE_INTERVAL_MS = 25
/** Sentences of the engine's mempool. */
const ALREADY_IN_MEMPOOL = 'tx already exists in cache'
const MEMPOOL_FULL = 'mempool is full'

type SubmissionOptions = {
  readonly rpc: EngineRpc
  readonly isOrdered: (entryHash: string) => boolean
  /** Why this member does not admit the entry, or null. */
  readonly admit: (bytes: Uint8Array) => EntryRefusal | null
  /** Makes a bundle of these entries, which fit. */
  readonly bundle: (entries: readonly Uint8Array[]) => Uint8Array
  readonly clock: Clock
}

export function createSubmission(options: SubmissionOptions) {
  const { isOrdered, clock } = options
  const waitingByHash = held(
    { owner: 'cometbft', name: 'entries that wait for a block', kind: 'work', bound: WAITING_MAX },
    new Map<string, Set<() => void>>(),
    membersOf,
  )
  const shares = createShares('entries that wait for a block', {
    entries: WAITING_MAX,
    bytes: WAITING_BYTES_MAX,
  })
  const send = createBundleSender(options)

  const waitFor = async (entryHash: string, bytes: Uint8Array): Promise<void> => {
    const arrived = new AbortController()
    const arrive = () => arrived.abort()
    const waiting = waitingByHash.get(entryHash) ?? new Set()
    waitingByHash.set(entryHash, waiting.add(arrive))
    try {
      // Another member may have had the entry: it may be ordered before this member has sent it.
      const failure = await Promise.race([send(entryHash, bytes), once(arrived.signal, 'abort')])
      if (isOrdered(entryHash)) return
      if (failure instanceof ScanError) throw failure
      await clock.delay(WAIT_MS, arrived.signal).catch(() => {}) // It has arrived earlier.
      if (!arrived.signal.aborted) throw unknown('the entry was not ordered in time')
    } finally {
      waiting.delete(arrive)
      if (waiting.size === 0) waitingByHash.delete(entryHash)
    }
  }

  return {
    /**
     * Resolves when the entry is in the log. A request for a checkpoint, which is empty, has no effect.
     *
     * @throws {ScanError} What refuses it, OVERLOADED; DEPENDENCY_UNAVAILABLE (unknown: submit the same bytes again).
     */
    async submit(bytes: Uint8Array, sender: string): Promise<void> {
      // Record time advances with the blocks of an idle network.
      if (bytes.byteLength === 0) return
      const entryHash = sha256Hex(bytes)
      if (isOrdered(entryHash)) return
      const release = shares.take(sender, { entries: 1, bytes: bytes.byteLength })
      if (release === null) throw new ScanError('OVERLOADED', `too many ${shares.pool}`)
      try {
        const refusal = options.admit(bytes)
        if (refusal !== null) throw new ScanError(refusal.code, refusal.message)
        await waitFor(entryHash, bytes)
      } finally {
        release()
      }
    },
    /** Resolves the submissions that wait for an entry: it is in the log. */
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
 * Sends entries to the engine, a bundle at a time: entries that come while one is under way are the next. Resolves when
 * the engine has the entry, from this or another member, or with the reason why that is not known.
 */
function createBundleSender({ rpc, bundle: makeBundle, clock }: SubmissionOptions) {
  const queuedByHash = held(
    { owner: 'cometbft', name: 'entries of the next bundles', kind: 'work', bound: WAITING_MAX },
    new Map<string, Queued>(),
  )
  let isSending = false

  const sendAll = async (): Promise<void> => {
    isSending = true
    while (queuedByHash.size > 0) {
      const bundle = firstBundle(queuedByHash)
      for (const [entryHash] of bundle) queuedByHash.delete(entryHash)
      const between = clock.delay(BUNDLE_INTERVAL_MS)
      const failure = await sendBundle(rpc, makeBundle(bundle.map(([, { bytes }]) => bytes)))
      for (const [, { settle }] of bundle) settle(failure)
      await between
    }
    isSending = false
  }

  return (entryHash: string, bytes: Uint8Array): Promise<ScanError | null> => {
    const queued = queuedByHash.get(entryHash)
    if (queued !== undefined) return queued.sent
    const { promise: sent, resolve: settle } = withResolvers<ScanError | null>()
    queuedByHash.set(entryHash, { bytes, sent, settle })
    if (!isSending) void sendAll()
    return sent
  }
}

function firstBundle(queuedByHash: ReadonlyMap<string, Queued>) {
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
    const { code, log } = readAdmission(await rpc.call('broadcast_tx_sync', { tx }))
    return code === 0 ? null : unknown(`the engine refuses the entry: ${log}`)
  } catch (error) {
    if (error instanceof EngineUnavailableError)
      return unknown('the engine is not available', error)
    if (error instanceof ZodError) return unknown('the engine answered something else', error)
    if (!(error instanceof EngineRefusedError)) return unknown('the engine is unreachable', error)
    if (error.message.includes(ALREADY_IN_MEMPOOL)) return null
    if (error.message.includes(MEMPOOL_FULL))
      return new ScanError('OVERLOADED', 'too many entries wait for the log', { cause: error })
    return unknown('the engine did not accept the entry', error)
  }
}

function unknown(message: string, cause?: unknown): ScanError {
  return new ScanError('DEPENDENCY_UNAVAILABLE', message, { cause, retryAfterSeconds: 1 })
}
