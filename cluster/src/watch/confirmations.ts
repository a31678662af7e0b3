/** The confirmations of payments, from the log itself, as a node could lie about them. */
import { decodeEntry, type Ordering } from '@quorumscan/ledger'
import type { Command, Micros } from '@quorumscan/model'
import { LRUCache } from 'lru-cache'

const BATCH_ENTRIES_MAX = 256
/** Payments whose confirmations are stored; a few hundred bytes each. */
const PAYMENTS_MAX = 1000

/** A confirmation with its position in the log. */
export type SeenConfirmation = {
  /** The super-validator's party. */
  readonly confirmer: string
  readonly offset: number
  readonly recordTime: Micros
}

export type ConfirmationWatch = ReturnType<typeof watchConfirmations>

/** Reads the log from its start, as payments may be confirmed already. Disposing closes the log. */
export function watchConfirmations(
  log: Pick<Ordering, 'follow'> & AsyncDisposable,
  genesisHash: string,
) {
  const closing = new AbortController()
  const seenByPayment = new LRUCache<string, SeenConfirmation[]>({ max: PAYMENTS_MAX })

  const note = (payment: string, seen: SeenConfirmation): void => {
    const known = seenByPayment.get(payment) ?? []
    if (known.some(({ confirmer }) => confirmer === seen.confirmer)) return
    seenByPayment.set(payment, [...known, seen])
  }
  const follow = async (): Promise<void> => {
    const options = { from: 0, expected: null, batchEntriesMax: BATCH_ENTRIES_MAX }
    for await (const entries of log.follow({ ...options, signal: closing.signal }))
      for (const { offset, recordTime, bytes } of entries) {
        const entry = decodeEntry(bytes, genesisHash)
        if (entry.kind !== 'submission') continue
        for (const command of entry.submission.commands) {
          const found = confirmationIn(command)
          if (found !== null) note(found.payment, { ...found, offset, recordTime })
        }
      }
  }
  // Every replica reports a log that regressed. Here only confirmations are missing.
  const following = follow().catch(() => {})
  return {
    /** In the order of the log. */
    of: (payment: string): readonly SeenConfirmation[] => seenByPayment.get(payment) ?? [],
    async [Symbol.asyncDispose]() {
      closing.abort()
      await following
      await log[Symbol.asyncDispose]()
    },
  }
}

/** The confirmation that a command makes, or null. D-23: one confirmation names one payment. */
export function confirmationIn(command: Command): { confirmer: string; payment: string } | null {
  if (command.kind !== 'exercise' || command.choice !== 'DsoRules_ConfirmAction') return null
  const { confirmer, action } = Object(command.argument)
  const { tag, value } = Object(action)
  const { payment } = Object(value)
  if (tag !== 'ResolveInitialPayment') return null
  return typeof confirmer === 'string' && typeof payment === 'string'
    ? { confirmer, payment }
    : null
}
