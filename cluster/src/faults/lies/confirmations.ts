/**
 * A super-validator that confirms payments which do not exist, and every contract that it sees come into
 * being, whatever it is. Interpretation must not care (D-23).
 */

import { type Clock, type KeyPair, type Random, randomHex } from '@quorumscan/base'
import { confirmResolveCommand, type Ledger, type Ordering } from '@quorumscan/ledger'
import type { ContractId, PartyId } from '@quorumscan/model'
import { createSubmitter } from '@quorumscan/submit'

const INTERVAL_MS = 500
/** Waiting to be confirmed: the liar is busy, not bigger than the log. */
const SEEN_MAX = 100
const CONFIRMED_PER_ROUND_MAX = 5
const SUBMIT_TIMEOUT_MS = 5000
const ID_BYTES = 32

export type FalseConfirmer = {
  set(isActive: boolean): void
  close(): Promise<void>
}

export function createFalseConfirmer(deps: {
  readonly ledger: Ledger
  readonly submit: Ordering['submit']
  readonly genesisHash: string
  readonly operatorKey: KeyPair
  readonly party: PartyId
  readonly userId: string
  readonly clock: Clock
  readonly random: Random
}): FalseConfirmer {
  const { ledger, clock, random } = deps
  const submitter = createSubmitter({
    ordering: { submit: deps.submit },
    ledger,
    genesisHash: deps.genesisHash,
    keyPair: deps.operatorKey,
    clock,
    random,
  })
  let active: AbortController | null = null
  let running: Promise<void> = Promise.resolve()

  const confirm = async (payment: ContractId, signal: AbortSignal): Promise<void> => {
    const [dsoRules] = await ledger.contractsByKey('singleton:DsoRules', { limit: 1 })
    if (dsoRules === undefined) return
    const command = confirmResolveCommand({
      dsoRules: dsoRules.contractId,
      confirmer: deps.party,
      payment,
    })
    await submitter.submit(
      { userId: deps.userId, actAs: [deps.party], commands: [command] },
      { signal, timeoutMs: SUBMIT_TIMEOUT_MS },
    )
  }

  const run = async (signal: AbortSignal): Promise<void> => {
    const seen: ContractId[] = []
    const stopListening = ledger.onApplied((entry) => {
      for (const contract of entry.created)
        if (seen.length < SEEN_MAX) seen.push(contract.contractId)
    })
    try {
      while (!signal.aborted) {
        const invented = `00${randomHex(random, ID_BYTES)}` as ContractId
        for (const id of [invented, ...seen.splice(0, CONFIRMED_PER_ROUND_MAX)])
          await confirm(id, signal).catch(() => {}) // Refused, which is the point.
        await clock.delay(INTERVAL_MS, signal).catch(() => {}) // Aborted: the loop ends.
      }
    } finally {
      stopListening()
    }
  }

  const stop = () => {
    active?.abort(new Error('the lie is over'))
    active = null
  }
  return {
    set(isActive) {
      if (!isActive) stop()
      else if (active === null) {
        active = new AbortController()
        const { signal } = active
        running = running.then(() => run(signal))
      }
    },
    async close() {
      stop()
      await running
    },
  }
}
