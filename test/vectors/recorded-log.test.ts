/**
 * Logs of versions of the protocol, as `record-log.mjs` recorded them once. They are never recorded again: networks have
 * such logs, and what their replicas computed is permanent.
 */
import { existsSync } from 'node:fs'
import { choicesOf, KNOWN_RULES, packages, templates } from '@quorumscan/ledger'
import {
  MemoryLedger,
  outcomeOf,
  readRecordedLog,
  recordedLogPath,
} from '@quorumscan/ledger/testing'
import type { EntryResult, LedgerEvent } from '@quorumscan/model'
import { hashGenesis } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { main as record } from './record-log.ts'

const log = readRecordedLog(3)

/** The ledger after the log, and where it first differs from what was recorded. */
function replay() {
  const ledger = new MemoryLedger(log)
  for (const [index, { bytes, recordTime, historyHash }] of log.entries.entries()) {
    const applied = ledger.append(bytes, recordTime)
    const at = { offset: index + 1, recordTime, historyHash }
    // At once: the first difference names the entry whose result changed.
    expect({ ...applied, ...at }, JSON.stringify(applied.result)).toEqual(applied)
  }
  return ledger
}

describe('the recorded log of version 3', () => {
  const ledger = replay()

  it('has the recorded genesis, packages and last contracts', async () => {
    expect(await hashGenesis(log.genesis)).toBe(log.genesisHash)
    expect(packages.map(({ id }) => id)).toEqual(expect.arrayContaining([...log.packageIds]))
    expect(ledger.contracts().map(({ contractId }) => contractId)).toEqual(log.contractIds)
  })

  it('has every outcome that its network could have', () => {
    const outcomes = new Set(ledger.results().map(outcomeOf))
    // Not DEVNET_ONLY: the network is a devnet, so that coin can be tapped. Not TEMPLATE_PRECONDITION_VIOLATED: the
    // operator signs every contract, and no choice of this version creates one that breaks a rule.
    expect([...outcomes].sort()).toEqual([
      'CHOICE_REFUSED',
      'CONTRACT_CONSUMED',
      'CONTRACT_NOT_FOUND',
      'DUPLICATE_COMMAND',
      'INSUFFICIENT_FUNDS',
      'INVALID_ARGUMENT',
      'INVALID_DEDUPLICATION_PERIOD',
      'INVALID_DESCRIPTION',
      'INVALID_NAME',
      'INVALID_URL',
      'LIMIT_EXCEEDED',
      'NAME_SUFFIX_MISSING',
      'NAME_TAKEN',
      'OPEN_REQUEST_LIMIT',
      'PERMISSION_DENIED',
      'WRONGLY_TYPED_CONTRACT',
      'accepted',
      'checkpoint',
      'ignored: bad signature',
      'ignored: malformed',
      'ignored: not after',
      'ignored: not bound',
      'ignored: other network',
      'ignored: seen before',
      'ignored: too large',
    ])
  })

  it('creates a contract of every template, and exercises every choice', () => {
    const events = ledger.results().flatMap(eventsOf)
    const entity = ({ templateId }: { templateId: string }) => templateId.split(':')[2]
    const created = new Set(events.filter(({ kind }) => kind === 'created').map(entity))
    for (const contract of new MemoryLedger(log).contracts()) created.add(entity(contract))
    const old = templates.filter(({ since }) => since <= log.genesis.protocolVersion)
    expect([...created].sort()).toEqual(old.map((template) => template.entity).sort())
    const exercised = new Set(
      events.flatMap((event) =>
        event.kind === 'exercised' ? [`${entity(event)}: ${event.choice}`] : [],
      ),
    )
    const all = old.flatMap((template) =>
      [...choicesOf(template).map(({ name }) => name), 'Archive'].map(
        (choice) => `${template.entity}: ${choice}`,
      ),
    )
    expect(all.filter((choice) => !exercised.has(choice))).toEqual(CANNOT_OCCUR)
  })

  it('has every action that members confirm, with both ends of a payment', () => {
    const confirmed = ledger
      .results()
      .flatMap(eventsOf)
      .flatMap((event) => {
        if (event.kind !== 'exercised' || event.choice !== 'DsoRules_ConfirmAction') return []
        const { action } = event.argument as { action: { tag: string } }
        const { outcome } = event.result as { outcome: { tag: string } | null }
        return [`${action.tag}: ${outcome?.tag}`]
      })
    expect([...new Set(confirmed)].sort()).toEqual([
      'ResolveInitialPayment: Collected',
      'ResolveInitialPayment: Rejected',
      'ResolveInitialPayment: undefined',
      'SetAnsConfig: ConfigSet',
      'SetAnsConfig: undefined',
      'SetProtocolVersion: ProtocolVersionSet',
      'SetProtocolVersion: undefined',
    ])
  })
})

/** Each needs the operator's authority, which no submission has, and no choice exercises it. */
const CANNOT_OCCUR: readonly string[] = [
  'AnsRules: Archive',
  'AnsEntryContext: Archive',
  'AnsEntry: Archive',
  'SubscriptionRequest: Archive',
  'Subscription: Archive',
  'SubscriptionInitialPayment: Archive',
  'SubscriptionIdleState: Archive',
  'SubscriptionPayment: SubscriptionPayment_Reject',
  'SubscriptionPayment: Archive',
  'CoinRules: Archive',
  'LockedCoin: Archive',
  'TransferInstruction: Archive',
]

it('every version of the protocol has a recorded log', () => {
  for (const { version } of KNOWN_RULES)
    expect(existsSync(recordedLogPath(version)), `node test/vectors/record-log.mjs`).toBe(true)
})

it('a recorded log is not recorded again', () => {
  expect(record()).toBe(1)
})

function eventsOf(result: EntryResult): readonly LedgerEvent[] {
  return result.kind === 'accepted' ? result.update.events : []
}
