/** What drives the policy: sends what it says, verifies what comes, keeps time for it. */

import type { Threshold } from '@quorumscan/verifier'
import type { AnyQuestion, HashedNetwork, SignatureVerifier } from '@quorumscan/verifier/certified'
import { createCertificateChecks } from '@quorumscan/verifier/certified'
import type { ReaderClock } from '../reader-options.ts'
import type { Transport } from '../source/transport.ts'
import { nextTickMs, step } from './policy.ts'
import type { Contradiction, Effect, Now, ReaderEvent, ReaderState } from './reader-state.ts'
import { eventOf } from './replies.ts'
import { type CertifiedRequest, wireRequest } from './requests.ts'

/** A timer that is later than this says that the process stood still, which is held against nobody. */
const STALL_MS = 100
/** By then what came meanwhile is read. */
const TURN_MS = 1

/** How much of an answer the caller believes. */
export type Bounds = {
  readonly signers: Threshold
  /** What that is, in members. */
  readonly threshold: number
  readonly minOffset: number
  readonly maxAgeMs: number
  /** When it is told what is known, by the monotonic clock. */
  readonly endsAtMs: number
}

export type Ended = Omit<Effect & { readonly kind: 'ended' }, 'kind' | 'read'>

type Pending = {
  readonly asked: CertifiedRequest<unknown>
  readonly question: AnyQuestion<unknown>
  readonly signers: Threshold
  resolve(ended: Ended): void
  reject(reason: unknown): void
}

export type Driver = {
  /** Resolves however it ends. @throws The signal's reason; RangeError if the state answers no such request. */
  ask(
    asked: CertifiedRequest<unknown>,
    bounds: Bounds,
    signal: AbortSignal | undefined,
  ): Promise<Ended>
  tell(event: ReaderEvent): void
  pendingCount(): number
  close(reason: unknown): void
}

export function createDriver(options: {
  readonly state: ReaderState
  readonly network: HashedNetwork
  readonly crypto: SignatureVerifier
  readonly transport: Transport
  readonly clock: ReaderClock
  readonly isPrivateAllowed: boolean
  readonly onFloor: (offset: number) => void
  readonly onFork: (points: Contradiction) => void
}): Driver {
  const { state, network, clock, transport } = options
  const checks = createCertificateChecks({ ...network, crypto: options.crypto })
  const nodeCount = network.genesis.nodes.length
  const pending = new Map<number, Pending>()
  const flights = new Map<number, AbortController>()
  let readCount = 0
  let isClosed = false
  /** How long this process stood still so far: time in which nobody could be heard. */
  let stalledMs = 0
  let alarm: { readonly atMs: number; readonly abort: AbortController } | null = null

  const now = (): Now => ({ ms: clock.monotonicMs() - stalledMs, micros: clock.nowMicros() })

  const tell = (event: ReaderEvent): void => {
    if (isClosed) return
    for (const effect of step(state, event, now())) perform(effect)
    options.onFloor(state.floor)
    setAlarm()
  }

  const perform = (effect: Effect): void => {
    switch (effect.kind) {
      case 'send':
        return void send(effect)
      case 'cancel':
        flights.get(effect.flight)?.abort(new Error('not needed any more'))
        flights.delete(effect.flight)
        return
      case 'forked':
        options.onFork(effect.points)
        return
      case 'ended':
        pending.get(effect.read)?.resolve(effect)
        pending.delete(effect.read)
    }
  }

  const send = async (effect: Effect & { readonly kind: 'send' }): Promise<void> => {
    const { flight, source, minOffset } = effect
    const read = effect.read === null ? undefined : pending.get(effect.read)
    const { signers = 'weak', question = null } = read ?? {}
    const abort = new AbortController()
    flights.set(flight, abort)
    let event: ReaderEvent
    try {
      const reply = await transport.request({
        ...wireRequest(read?.asked ?? null, { signers, minOffset, nodeCount }),
        url: source.url,
        isPublicOnly: !options.isPrivateAllowed && !source.isSeed,
        signal: abort.signal,
      })
      event = await eventOf(reply, { flight, question, minOffset, checks, network })
    } catch {
      event = { kind: 'failed', flight, reason: 'unreachable' }
    }
    if (flights.delete(flight)) tell(event)
  }

  const setAlarm = (): void => {
    const atMs = nextTickMs(state, now())
    // One that comes too early does no harm; to take it back after each answer would be dear.
    if ((alarm?.atMs ?? Number.POSITIVE_INFINITY) <= atMs) return
    alarm?.abort.abort()
    alarm = { atMs, abort: new AbortController() }
    // Aborted: another was set, or the reader is closed.
    wake(alarm).catch(() => {})
  }

  const wake = async ({ atMs, abort }: NonNullable<typeof alarm>): Promise<void> => {
    // Timers count whole milliseconds, and may be early by a part of one.
    await clock.delay(Math.max(1, Math.ceil(atMs - now().ms)), abort.signal)
    const lateMs = now().ms - atMs
    if (lateMs > STALL_MS) {
      stalledMs += lateMs
      await clock.delay(TURN_MS, abort.signal)
    }
    alarm = null
    tell({ kind: 'tick' })
  }

  return {
    tell,
    pendingCount: () => pending.size,
    ask: (asked, bounds, signal) =>
      new Promise((resolve, reject) => {
        const question = asked.question(network)
        const id = readCount++
        const over = () => signal?.removeEventListener('abort', leave)
        const leave = () => {
          pending.delete(id)
          reject(signal?.reason)
          tell({ kind: 'left', read: id })
        }
        signal?.addEventListener('abort', leave, { once: true })
        pending.set(id, {
          asked,
          question,
          signers: bounds.signers,
          resolve(ended) {
            over()
            resolve(ended)
          },
          reject(reason) {
            over()
            reject(reason)
          },
        })
        const { threshold, minOffset, maxAgeMs, endsAtMs } = bounds
        const wanted = {
          ...{ signerCount: threshold, minOffset, maxAgeMs },
          waitMs: endsAtMs - clock.monotonicMs(),
          isWalk: question.offset !== null,
        }
        tell({ kind: 'asked', read: id, wanted })
      }),
    close(reason) {
      isClosed = true
      alarm?.abort.abort()
      for (const flight of flights.values()) flight.abort(reason)
      for (const { reject } of pending.values()) reject(reason)
    },
  }
}
