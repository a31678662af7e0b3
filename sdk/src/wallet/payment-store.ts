/** Payments whose result is not known, in the client's store, so that a closed session is continued. */
import { failure, isQuorumscanError, type QuorumscanError, transient } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { inTime } from '../platform/clock.ts'
import { withDeadline } from '../platform/deadline.ts'
import { isParty, type Party } from '../platform/party.ts'
import { createMemoryStore, type Store } from '../platform/store.ts'
import { withPayment } from './payment-state.ts'

/** What is paid for. */
export type PaymentKind =
  | 'transfer'
  | 'accept'
  | 'reject'
  | 'withdraw'
  | 'tap'
  | 'register'
  | 'renew'

/** A request as it was sent first, which every repeat sends again. */
export type StoredPayment = {
  /** Command id on the ledger. Of a registration or renewal, an id of the SDK. */
  readonly id: string
  readonly kind: PaymentKind
  /** The party of the user. */
  readonly party: Party
  /** Empty for a registration or renewal, which makes several requests. */
  readonly path: string
  readonly body: Readonly<Record<string, unknown>> | null
  /** When it was stored, by the clock of the device: ISO-8601 UTC. */
  readonly startedAt: string
  /** Record time in µs after which it cannot take effect; null: unknown. */
  readonly lastEffect: number | null
  /** It is on no earlier offset of the ledger. */
  readonly searchAfter: number
  /** How many requests were sent, by all clients of the store. */
  readonly sends: number
  /** Of a registration or renewal: the contracts that its requests consume, so that each of them pays at most once. */
  readonly consumes?: readonly string[]
}

/** Unsettled payments in one store. A user who has more settles some first. */
export const UNFINISHED_MAX = 100
/** How long a payment waits for its store: longer than a file is locked by a process that has ended. */
export const PAYMENT_STORE_MS = 8000

export type PaymentStore = ReturnType<typeof createPaymentStore>

/** @param store - Default: in memory alone. */
export function createPaymentStore(
  store: Store = createMemoryStore(),
  keyOf: () => Promise<string>,
  clock: Clock,
) {
  /** What this client has stored and not settled: another tab without locks may overwrite the list. */
  const own = new Map<string, StoredPayment>()
  const slot = ({ id, party }: Pick<StoredPayment, 'id' | 'party'>) => `${party} ${id}`

  /** `odd`: rows of another form, such as of a newer version of the SDK. They hide no other one, and stay as they are. */
  const parse = (text: string | null, key: string): { list: StoredPayment[]; odd: unknown[] } => {
    try {
      const rows: unknown = JSON.parse(text ?? '[]')
      if (Array.isArray(rows)) {
        const odd = rows.filter((row) => !isStoredPayment(row))
        return { list: rows.filter(isStoredPayment), odd }
      }
    } catch {
      // Reported below.
    }
    throw unreadable(key)
  }

  /**
   * Uses the store for at most `PAYMENT_STORE_MS`.
   *
   * @throws {QuorumscanError} STORE_UNAVAILABLE. @throws The signal's reason.
   */
  const within = async <T>(signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> => {
    try {
      const options = { clock, timeoutMs: PAYMENT_STORE_MS, what: 'The store', signal }
      return await withDeadline(options, run)
    } catch (cause) {
      signal?.throwIfAborted()
      if (isQuorumscanError(cause) && cause.code !== 'TIMEOUT') throw cause
      const isLate = isQuorumscanError(cause)
      const reason = cause instanceof Error ? cause.message : String(cause)
      const why = isLate ? `it did not answer within ${PAYMENT_STORE_MS / 1000} s` : reason
      const message = `The store of payments failed: ${why}. A payment is stored before it is sent: repair the store, then try again.`
      throw transient('STORE_UNAVAILABLE', message, { cause })
    }
  }

  /**
   * Replaces the list. A synchronous store is read and written without a pause, so that no other tab is in between.
   *
   * @throws {QuorumscanError} INVALID_ARGUMENT, STORE_UNAVAILABLE. @throws The signal's reason.
   */
  const update = async <T>(
    signal: AbortSignal | undefined,
    change: (
      list: StoredPayment[],
      problem: QuorumscanError | null,
    ) => { list: StoredPayment[]; result: T },
  ): Promise<T> => {
    let isOver = false
    const end = () => {
      isOver = true
    }
    return await within(signal, async () => {
      const key = await keyOf()
      const made: T[] = []
      const apply = async (): Promise<void> => {
        const read = store.get(key)
        const text = read instanceof Promise ? await read : read
        // The caller was told that nothing is stored.
        if (isOver) return
        const stored = parse(text, key)
        const problem = stored.odd.length > 0 ? unreadable(key) : null
        const { list, result } = change(stored.list, problem)
        const next = JSON.stringify([...stored.odd, ...list])
        // Otherwise two tabs would report changes to each other without end.
        if (next !== text) await store.set(key, next)
        made.push(result)
      }
      // A store that hangs does not block other clients.
      const locked = () => inTime(clock, PAYMENT_STORE_MS, apply())
      await withLock(`${key}:lock`, () => store.exclusively?.(locked) ?? locked())
      return made[0] as T
    }).finally(end)
  }

  store.onChange?.((changed) => {
    void keyOf()
      .then(async (key) => {
        if (changed !== key || own.size === 0) return
        await update(undefined, (list) => {
          const lost = [...own.values()].filter(
            (payment) => !list.some((other) => slot(other) === slot(payment)),
          )
          return { list: [...list, ...lost], result: null }
        })
      })
      .catch(() => {}) // The next change of the list reports a store that fails.
  })

  /** Stores the payment, or what `join` makes of the stored one and it. @throws {QuorumscanError} LIMIT_EXCEEDED. */
  const put = async (
    payment: StoredPayment,
    signal: AbortSignal | undefined,
    join: (known: StoredPayment | null) => StoredPayment,
  ): Promise<StoredPayment> => {
    const before = own.get(slot(payment))
    const storing = update(signal, (list, problem) => {
      const known = list.find((other) => slot(other) === slot(payment))
      // One of them may be the same payment.
      if (known === undefined && problem !== null) throw problem
      if (known === undefined && list.length >= UNFINISHED_MAX) {
        const message = `${UNFINISHED_MAX} payments are not settled: settle those of \`unfinished()\` first.`
        throw failure('LIMIT_EXCEEDED', message, {
          details: { limit: 'unfinished', max: UNFINISHED_MAX },
        })
      }
      const next = join(known ?? null)
      // Before it is written: another tab may overwrite it at once.
      own.set(slot(next), next)
      return { list: [...list.filter((other) => other !== known), next], result: next }
    })
    return await storing.catch((error) => {
      if (before === undefined) own.delete(slot(payment))
      else own.set(slot(payment), before)
      throw error
    })
  }

  return {
    async list(party: string, signal?: AbortSignal): Promise<readonly StoredPayment[]> {
      const all = await within(signal, async () => {
        const key = await keyOf()
        return parse(await store.get(key), key).list
      })
      return all.filter((payment) => payment.party === party)
    },
    /**
     * The payment as it is stored; null: it is not.
     *
     * @throws {QuorumscanError} INVALID_ARGUMENT: an unreadable payment may be the same.
     */
    async find(
      payment: Pick<StoredPayment, 'id' | 'party'>,
      signal?: AbortSignal,
    ): Promise<StoredPayment | null> {
      return await within(signal, async () => {
        const key = await keyOf()
        const { list, odd } = parse(await store.get(key), key)
        const found = list.find((other) => slot(other) === slot(payment))
        if (found === undefined && odd.length > 0) throw unreadable(key)
        return found ?? null
      })
    },
    /** Stores what no request was sent for yet. A stored one keeps what was sent. */
    begin: (payment: StoredPayment, signal?: AbortSignal): Promise<StoredPayment> =>
      put(payment, signal, (known) => {
        const { sends, consumes = [], startedAt } = known ?? payment
        return { ...payment, sends, consumes, startedAt }
      }),
    /**
     * Counts a request before it is sent, and stores the first one.
     *
     * @param consumes - The contract that the request consumes, of a registration or renewal.
     * @returns The stored payment, whose request is the first one.
     * @throws {QuorumscanError} LIMIT_EXCEEDED, STORE_UNAVAILABLE: nothing may be sent.
     */
    beforeSend: (
      payment: StoredPayment,
      signal?: AbortSignal | undefined,
      consumes?: string,
    ): Promise<StoredPayment> =>
      put(payment, signal, (known) => {
        const first = known ?? payment
        const next = { ...first, sends: first.sends + 1 }
        const { consumes: before = [] } = first
        if (consumes === undefined || before.includes(consumes)) return next
        return { ...next, consumes: [...before, consumes] }
      }),
    /** Removes a settled payment. */
    async remove(payment: StoredPayment, signal?: AbortSignal): Promise<void> {
      own.delete(slot(payment))
      await update(signal, (list) => ({
        list: list.filter((other) => slot(other) !== slot(payment)),
        result: null,
      }))
    },
    /**
     * Removes it, unless a client sent a request that `payment` does not count, or may have: an unreadable payment may be
     * the same. Missing: another client settled it.
     */
    async removeUnlessSent(payment: StoredPayment): Promise<'removed' | 'missing' | 'sent'> {
      const outcome = await update(undefined, (list, problem) => {
        const known = list.find((other) => slot(other) === slot(payment))
        if (known === undefined && problem !== null) return { list, result: 'sent' as const }
        if (known === undefined) return { list, result: 'missing' as const }
        if (known.sends !== payment.sends) return { list, result: 'sent' as const }
        return { list: list.filter((other) => other !== known), result: 'removed' as const }
      })
      if (outcome !== 'sent') own.delete(slot(payment))
      return outcome
    },
  }
}

/** An unreadable payment may have been sent, so that the error of the one that may be the same is not definite. */
function unreadable(key: string): QuorumscanError {
  const message = `The store has unreadable payments under ${key}. Nothing new is sent, because one of them may be the same. Look at the transactions of the party, then delete the value.`
  return withPayment(failure('INVALID_ARGUMENT', message), 'unknown')
}

function isStoredPayment(value: unknown): value is StoredPayment {
  if (typeof value !== 'object' || value === null) return false
  const row: Readonly<Record<string, unknown>> = { ...value }
  const { id, kind, party, path, startedAt, lastEffect, searchAfter, sends, consumes } = row
  return (
    [id, kind, path, startedAt].every((text) => typeof text === 'string') &&
    isParty(party) &&
    (lastEffect === null || Number.isSafeInteger(lastEffect)) &&
    [searchAfter, sends].every(Number.isSafeInteger) &&
    (consumes === undefined || Array.isArray(consumes))
  )
}

const lastByKey = new Map<string, Promise<unknown>>()

type Locks = { request<T>(name: string, run: () => Promise<T>): Promise<T> }

/** Runs while no other change does: in other tabs by Web Locks, where the platform has them, and in this program. */
function withLock<T>(key: string, run: () => Promise<T>): Promise<T> {
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: Locks | null } }
  const locks = navigator?.locks
  if (locks != null) return locks.request(key, run)
  const running = (lastByKey.get(key) ?? Promise.resolve()).then(run, run)
  lastByKey.set(
    key,
    running.catch(() => {}),
  )
  return running
}
