/** The log of a cluster, and the confirmations of payments in it: a node could lie about them. */

import { type Clock, systemRandom } from '@quorumscan/base'
import { decodeEntry } from '@quorumscan/ledger'
import { createLogClient, createOrderingClient } from '@quorumscan/log'
import type { Command, Micros } from '@quorumscan/model'
import { logTokenOf } from '@quorumscan/operator'
import { logGenesisOf } from '@quorumscan/operator/ceremony'
import { readSecret } from '@quorumscan/runtime'
import { membersOf } from '@quorumscan/verifier'
import { LRUCache } from 'lru-cache'
import { CONTROL_PLANE } from '../../rig/cluster-shape.ts'
import type { Prepared } from '../../rig/prepare.ts'

const BATCH_ENTRIES_MAX = 256
/** Payments whose confirmations are stored; a few hundred bytes each. */
const PAYMENTS_MAX = 1000

/** A confirmation with its position in the log. */
export type LoggedConfirmation = {
  /** The super-validator's party. */
  readonly confirmer: string
  readonly offset: number
  readonly recordTime: Micros
}

export type ConfirmationWatch = ReturnType<typeof watchConfirmations>

/** Follows the log as every process with a token does. Disposing ends all that follow. */
export function openClusterLog(prepared: Prepared, clock: Clock) {
  const log = createLogClient({
    url: prepared.synchronizerUrl,
    token: readSecret(prepared.directory.secretFile(logTokenOf(CONTROL_PLANE))),
  })
  const genesis = logGenesisOf(prepared.genesis)
  const { follow } = createOrderingClient({ log, genesis, clock, random: systemRandom })
  return { follow, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() }
}

/** Reads the log from its start, as payments may be confirmed already. Disposing closes the log. */
export function watchConfirmations(prepared: Prepared, clock: Clock) {
  const log = openClusterLog(prepared, clock)
  const closing = new AbortController()
  const confirmationsByPayment = new LRUCache<string, LoggedConfirmation[]>({ max: PAYMENTS_MAX })

  const record = (payment: string, seen: LoggedConfirmation): void => {
    const known = confirmationsByPayment.get(payment) ?? []
    if (known.some(({ confirmer }) => confirmer === seen.confirmer)) return
    confirmationsByPayment.set(payment, [...known, seen])
  }
  const follow = async (): Promise<void> => {
    const options = { from: 0, expected: null, batchEntriesMax: BATCH_ENTRIES_MAX }
    for await (const entries of log.follow({ ...options, signal: closing.signal }))
      for (const { offset, recordTime, bytes } of entries) {
        const entry = decodeEntry(bytes, prepared.genesisHash)
        if (entry.kind !== 'submission') continue
        for (const command of entry.submission.commands) {
          const found = confirmationIn(command)
          if (found !== null) record(found.payment, { ...found, offset, recordTime })
        }
      }
  }
  // Every replica reports a log that regressed. Here only confirmations are missing.
  const following = follow().catch(() => {})
  return {
    /** The confirmations of a payment, in the order of the log. */
    confirmationsOf: (payment: string): readonly LoggedConfirmation[] =>
      confirmationsByPayment.get(payment) ?? [],
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
  const { confirmer, action } = membersOf(command.argument)
  const { tag, value } = membersOf(action)
  const { payment } = membersOf(value)
  if (tag !== 'ResolveInitialPayment') return null
  return typeof confirmer === 'string' && typeof payment === 'string'
    ? { confirmer, payment }
    : null
}
