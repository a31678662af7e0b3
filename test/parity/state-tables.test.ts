/**
 * Where each row of the two tables of states is shown: docs/specification.md, "States and transitions", and
 * docs/upstream.md §N4.6. A row names its tests; a test that is renamed or deleted is missed here.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const LEDGER = 'packages/ledger/src/name-lifecycle.test.ts'
const CONFIRMATIONS = 'packages/ledger/src/confirmations.test.ts'
const OPERATOR = 'packages/jobs/src/operator-jobs.test.ts'
const WALLET = 'packages/jobs/src/wallet-jobs.test.ts'
const VALIDATOR = 'apps/validator/src/validator.test.ts'
const SUBSCRIPTIONS = 'apps/validator/src/subscriptions.test.ts'
const LIFE = 'test/e2e/life-cycle.test.ts'
const REFUND = 'test/e2e/refund.test.ts'
const FAULTS = 'test/e2e/faults.test.ts'

/** File and title of a test. */
type Shown = readonly [file: string, title: string]
type Row = { readonly row: string; readonly shown: readonly Shown[] }

/** docs/specification.md: current state | trigger | next state. */
const STATES_AND_TRANSITIONS: readonly Row[] = [
  {
    row: 'no entry | POST /v0/entry/create (AnsRules_RequestEntry) | registration requested',
    shown: [
      [
        LEDGER,
        '— | POST entry/create → REQUESTED: a context and a request, the name is not reserved',
      ],
      [VALIDATOR, 'goes from user to verified lookup'],
    ],
  },
  {
    row: 'registration requested | user accepts with enough coin | initial payment made',
    shown: [
      [LEDGER, 'REQUESTED | wallet accept → PAID: the price is locked, the change comes back'],
      [LEDGER, 'REQUESTED | wallet accept without funds → stays REQUESTED'],
      [VALIDATOR, 'is 400 without enough coin, and says what is missing'],
    ],
  },
  {
    row: 'initial payment made | AnsEntryContext_CollectInitialEntryPayment | entry active',
    shown: [
      [LEDGER, 'PAID | SV quorum collect → ACTIVE: the coin is burned, the entry lives 90 days'],
      [
        OPERATOR,
        'a paid name becomes an entry when the third super-validator confirms, not before',
      ],
      [LIFE, 'a name is renewed twice, lapses and finds a new owner'],
    ],
  },
  {
    row: 'entry active | AnsEntryContext_CollectEntryRenewalPayment | entry active',
    shown: [
      [LEDGER, 'RENEWING | any SV collect → ACTIVE: burned, 90 days more, a new contract id'],
      [WALLET, 'a renewal is paid inside its window, for hosted owners who asked for it'],
      [LIFE, 'a name is renewed twice, lapses and finds a new owner'],
    ],
  },
  {
    row: 'entry active | AnsEntry_Expire, by any signatory, once expiresAt has passed | entry archived',
    shown: [
      [LEDGER, 'LAPSED | %s archives the entry from expiresAt on'],
      [OPERATOR, 'an entry and its subscription are ended when nobody renews, and rounds go on'],
      [LIFE, 'a name is renewed twice, lapses and finds a new owner'],
    ],
  },
  {
    row: 'dso.ns never expires',
    shown: [
      [
        LEDGER,
        'dso.ns and the entries of super-validators are no contracts: nothing expires or renews them',
      ],
    ],
  },
]

/** docs/upstream.md §N4.6: state | trigger | next; D-17, D-22 and D-23 say what differs. */
const STATE_TABLE: readonly Row[] = [
  {
    row: '— | POST entry/create | REQUESTED',
    shown: [
      [
        LEDGER,
        '— | POST entry/create → REQUESTED: a context and a request, the name is not reserved',
      ],
      [LEDGER, '— | POST entry/create with %j %j: %s is refused by the ledger too'],
    ],
  },
  {
    row: 'REQUESTED | wallet reject / DSO withdraw | TERMINATED',
    shown: [
      [LEDGER, 'REQUESTED | wallet reject → TERMINATED'],
      [LEDGER, 'REQUESTED | DSO withdraw after 24 h → everything is cleaned up'],
      [VALIDATOR, 'can be rejected, once'],
      [OPERATOR, 'a request that nobody pays is ended with its context'],
    ],
  },
  {
    row: 'REQUESTED | wallet accept | PAID',
    shown: [
      [LEDGER, 'REQUESTED | wallet accept → PAID: the price is locked, the change comes back'],
    ],
  },
  {
    row: 'PAID | SV quorum collect | ACTIVE',
    shown: [
      [LEDGER, 'PAID | SV quorum collect → ACTIVE: the coin is burned, the entry lives 90 days'],
      [
        LEDGER,
        'PAID | an entry of the name that has expired but is not archived does not stand in the way',
      ],
      [
        LEDGER,
        'PAID | SV quorum collect after the round of the payment has closed → ACTIVE (D-22)',
      ],
    ],
  },
  {
    row: 'PAID | SV quorum reject: invalid, duplicate, too late | TERMINATED',
    shown: [
      [LEDGER, 'PAID | SV quorum reject for a live entry of the name → TERMINATED: refund in full'],
      [LEDGER, 'PAID | SV quorum when the lock has ended → TERMINATED: refund'],
      [
        CONFIRMATIONS,
        'two payers, one name, votes mixed by a super-validator that confirms both: one wins, one is refunded',
      ],
      [FAULTS, 'gives a contested name to one payer and the coin back to the other'],
    ],
  },
  {
    row: 'PAID | lock expiry, any signatory | TERMINATED',
    shown: [
      [LEDGER, 'PAID | lock expiry, by %s → TERMINATED: refund'],
      [
        OPERATOR,
        'a payment that is not confirmed in time is refunded by one super-validator alone',
      ],
      [SUBSCRIPTIONS, 'gives back what nobody collected, without any super-validator'],
      [REFUND, 'coin comes back when two super-validators stay dead until the lock has ended'],
    ],
  },
  {
    row: 'ACTIVE | wallet payment, from due − 30 d on | RENEWING',
    shown: [
      [LEDGER, 'ACTIVE | wallet payment → RENEWING: from exactly 30 days before the due date on'],
      [SUBSCRIPTIONS, 'is paid by hand inside the window only, by its owner only, and once'],
    ],
  },
  {
    row: 'RENEWING | any SV collect, before expiresAt | ACTIVE',
    shown: [
      [LEDGER, 'RENEWING | any SV collect → ACTIVE: burned, 90 days more, a new contract id'],
      [LEDGER, 'ACTIVE | an immediate second renewal is outside the window'],
    ],
  },
  {
    row: 'RENEWING | lock expiry | ACTIVE (same due) or LAPSED',
    shown: [
      [LEDGER, 'RENEWING | lock expiry before the due date → ACTIVE with the same due date'],
      [
        LEDGER,
        'RENEWING | paid after the due date → LAPSED: never collected, refunded at lock expiry',
      ],
      [LEDGER, 'upstream timeline: day 60 pays, day 150 pays, day 271 pays and is refunded'],
    ],
  },
  {
    row: 'ACTIVE | cancel (user) | ACTIVE-NO-RENEW',
    shown: [
      [
        LEDGER,
        'ACTIVE | cancel (user) → ACTIVE-NO-RENEW: the entry stays, the context is cleaned up',
      ],
      [
        SUBSCRIPTIONS,
        'is cancelled by its owner, between payments; the name stays until it expires',
      ],
    ],
  },
  {
    row: 'ACTIVE / ACTIVE-NO-RENEW | time | LAPSED: hidden, name free',
    shown: [
      [LEDGER, 'ACTIVE | time → LAPSED: at expiresAt exactly the name is free'],
      [LEDGER, 'ACTIVE-NO-RENEW | time → LAPSED: the name is free, its SV archives the entry'],
      [LIFE, 'a name is renewed twice, lapses and finds a new owner'],
    ],
  },
  {
    row: 'LAPSED | SV triggers | —: contracts archived',
    shown: [
      [LEDGER, 'LAPSED | %s archives the entry from expiresAt on'],
      [
        LEDGER,
        'LAPSED | the subscription expires strictly after the due date, together with its context',
      ],
      [OPERATOR, 'an entry and its subscription are ended when nobody renews, and rounds go on'],
    ],
  },
  {
    row: 'TERMINATED | SV trigger | —: context and marker archived',
    shown: [[LEDGER, 'TERMINATED | SV terminates: context and marker are archived']],
  },
]

const root = join(import.meta.dirname, '../..')
const sources = new Map<string, string>()

/** Titles stand in single quotes, or in double ones where they hold a single one. */
function isInSource([file, title]: Shown): boolean {
  const source = sources.get(file) ?? readFileSync(join(root, file), 'utf8')
  sources.set(file, source)
  return source.includes(`'${title}'`) || source.includes(`"${title}"`)
}

describe.each([
  ['docs/specification.md, States and transitions', STATES_AND_TRANSITIONS],
  ['docs/upstream.md §N4.6', STATE_TABLE],
])('%s', (_table, rows) => {
  test.each(rows)('$row', ({ shown }) => {
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.filter((each) => !isInSource(each))).toEqual([])
  })
})
