/** Payments whose result is not known, in the client's store, so that a closed session is continued. */
import { failure } from '../errors.ts'
import { createMemoryStore, type Store } from '../platform/store.ts'

/** What is paid for. */
export type PaymentKind = 'transfer' | 'accept' | 'reject' | 'withdraw' | 'tap'

/** A request as it was sent first, which every repeat sends again. */
export type StoredPayment = {
  /** Command id on the ledger. */
  readonly id: string
  readonly kind: PaymentKind
  /** The party of the user. */
  readonly party: string
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
}

/** Unsettled payments in one store. A user who has more settles some first. */
export const UNFINISHED_MAX = 100

export type PaymentStore = ReturnType<typeof createPaymentStore>

/** @param store - Default: in memory alone. */
export function createPaymentStore(
  store: Store = createMemoryStore(),
  keyOf: () => Promise<string>,
) {
  /** What this client has stored and not settled: another tab without locks may overwrite the list. */
  const own = new Map<string, StoredPayment>()
  const slot = ({ id, party }: Pick<StoredPayment, 'id' | 'party'>) => `${party} ${id}`

  const parse = (text: string | null, key: string): StoredPayment[] => {
    try {
      const list: unknown = JSON.parse(text ?? '[]')
      if (Array.isArray(list) && list.every(isStoredPayment)) return list
    } catch {
      // Reported below.
    }
    throw failure(
      'INVALID_ARGUMENT',
      `The store has unreadable payments under ${key}. Nothing is sent, because one of them may be the same. Look at the transactions of the party, then delete the value.`,
    )
  }

  /**
   * Replaces the list. A synchronous store is read and written without a pause, so that no other tab is in between.
   *
   * @throws {QuorumscanError} INVALID_ARGUMENT. @throws What the store throws.
   */
  const update = async <T>(
    change: (list: StoredPayment[]) => { list: StoredPayment[]; result: T },
  ) => {
    const key = await keyOf()
    const apply = (text: string | null) => change(parse(text, key))
    return await withLock(`${key}:lock`, async () => {
      const read = store.get(key)
      const { list, result } = apply(read instanceof Promise ? await read : read)
      await store.set(key, JSON.stringify(list))
      return result
    })
  }

  store.onChange?.((changed) => {
    void keyOf().then(
      async (key) => {
        if (changed !== key || own.size === 0) return
        await update((list) => {
          const lost = [...own.values()].filter(
            (payment) => !list.some((other) => slot(other) === slot(payment)),
          )
          return { list: [...list, ...lost], result: null }
        })
      },
      () => {},
    )
  })

  return {
    async list(party: string): Promise<readonly StoredPayment[]> {
      const key = await keyOf()
      return parse(await store.get(key), key).filter((payment) => payment.party === party)
    },
    /**
     * Counts a request before it is sent, and stores the first one.
     *
     * @returns The stored payment, whose request is the first one.
     * @throws {QuorumscanError} LIMIT_EXCEEDED.
     */
    async beforeSend(payment: StoredPayment): Promise<StoredPayment> {
      const stored = await update((list) => {
        const known = list.find((other) => slot(other) === slot(payment))
        if (known === undefined && list.length >= UNFINISHED_MAX) {
          const message = `${UNFINISHED_MAX} payments are not settled: settle those of \`unfinished()\` first.`
          throw failure('LIMIT_EXCEEDED', message, {
            details: { limit: 'unfinished', max: UNFINISHED_MAX },
          })
        }
        const next = { ...(known ?? payment), sends: (known?.sends ?? 0) + 1 }
        return { list: [...list.filter((other) => other !== known), next], result: next }
      })
      own.set(slot(stored), stored)
      return stored
    },
    /** Removes a settled payment. */
    async remove(payment: StoredPayment): Promise<void> {
      own.delete(slot(payment))
      await update((list) => ({
        list: list.filter((other) => slot(other) !== slot(payment)),
        result: null,
      }))
    },
    /** Removes it if no other request was sent. @returns Whether that is so. */
    async removeOnly(payment: StoredPayment): Promise<boolean> {
      const isOnly = await update((list) => {
        const known = list.find((other) => slot(other) === slot(payment))
        // Missing: another client settled it.
        const result = known?.sends === 1
        return { list: result ? list.filter((other) => other !== known) : list, result }
      })
      if (isOnly) own.delete(slot(payment))
      return isOnly
    },
  }
}

function isStoredPayment(value: unknown): value is StoredPayment {
  const { id, kind, party, path, startedAt, lastEffect, searchAfter, sends } = Object(value)
  return (
    [id, kind, party, path, startedAt].every((text) => typeof text === 'string') &&
    (lastEffect === null || Number.isSafeInteger(lastEffect)) &&
    [searchAfter, sends].every(Number.isSafeInteger)
  )
}

const lastByKey = new Map<string, Promise<unknown>>()

type Locks = { request<T>(name: string, run: () => Promise<T>): Promise<T> }

/** Runs while no other change does: in other tabs by Web Locks, where the platform has them, and in this program. */
function withLock<T>(key: string, run: () => Promise<T>): Promise<T> {
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: Locks | null } }
  // A store that does not answer must not hold a lock that other tabs wait for: the caller's signal ends its wait.
  const locks = navigator?.locks
  if (locks != null) return locks.request(key, run)
  const running = (lastByKey.get(key) ?? Promise.resolve()).then(run, run)
  lastByKey.set(
    key,
    running.catch(() => {}),
  )
  return running
}
