import { ScanError } from '@quorumscan/errors'
import type { Ledger } from '@quorumscan/ledger'
import { amountOf, Scenario } from '@quorumscan/ledger/testing'
import type { CheckedSubmitter } from '@quorumscan/submit'
import type { AutoRenewal, AutoRenewals } from '@quorumscan/users'
import { describe, expect, it } from 'vitest'
import { createPartyQueue } from './party-queue.ts'
import { acceptRequest } from './requests.ts'
import { forgetEndedRenewals, payDueRenewal } from './subscriptions.ts'

const { signal } = new AbortController()

/** What the user store keeps, in memory. */
function memoryAutoRenewals(enabled: Readonly<Record<string, AutoRenewal>> = {}) {
  const stored = new Map(Object.entries(enabled))
  const autoRenewals: AutoRenewals = {
    set: async (reference, renewal) => {
      if (renewal === null) stored.delete(reference)
      else stored.set(reference, renewal)
    },
    find: async (references) => references.map((reference) => stored.get(reference) ?? null),
    async *portions() {
      yield [...stored.keys()]
    },
    forget: async (ended) => {
      for (const reference of ended) stored.delete(reference)
    },
  }
  return { autoRenewals, stored }
}

function ledgerOf({ ledger }: Scenario): Ledger {
  return {
    head: () => ledger.head(),
    contracts: async (ids) => ids.map((id) => ledger.contract(id)),
    contractsByKey: async (key) => ledger.byKey(key),
    totals: async (keys) => ledger.totals(keys),
    isPartyAllocated: async (party) => ledger.isPartyAllocated(party),
    dueItems: async ({ job }) => ledger.due().filter((item) => item.job === job),
    dryRun: async () => ({ result: { kind: 'checkpoint' }, growth: 0 }),
    onApplied: () => () => {},
  }
}

/** A submitter that refuses everything, or whose outcomes are unknown. */
function refusing(code: 'CHOICE_REFUSED' | 'SUBMISSION_UNKNOWN') {
  const submitters: string[] = []
  const submitter: CheckedSubmitter = {
    dryRun: async () => null,
    submit: async ({ userId }) => {
      submitters.push(userId)
      throw new ScanError(code, code)
    },
  }
  return { submitter, submitters }
}

function registered(scenario: Scenario) {
  const alice = scenario.actor('alice')
  scenario.register(alice, 'alice.unverified.ns')
  const [idle] = scenario.ledger.byKey(`party:SubscriptionIdleState:${alice.party}`)
  if (idle === undefined) throw new Error('an entry has an idle subscription')
  return { alice, idle, reference: String(idle.payload['reference']) }
}

describe('the stored auto-renewal', () => {
  it.each([
    ['CHOICE_REFUSED', false],
    ['SUBMISSION_UNKNOWN', true],
  ] as const)('of a request whose acceptance ends in %s is kept: %s', async (code, isKept) => {
    const scenario = new Scenario()
    const alice = scenario.actor('alice')
    scenario.tap(alice, '200')
    const { request } = scenario.request(alice, 'alice.unverified.ns')
    // Another user of the party wanted it before.
    const { party } = alice
    const before = { party, user: 'bob' }
    const { autoRenewals, stored } = memoryAutoRenewals({ [request]: before })
    const { submitter } = refusing(code)
    const deps = {
      ledger: ledgerOf(scenario),
      submitter,
      queue: createPartyQueue(),
      autoRenewals,
    }
    const user = { userId: 'alice', party }
    const input = { user, contractId: request, isAutoRenewed: true }
    await expect(acceptRequest(deps, { ...input, signal })).rejects.toMatchObject({ code })
    expect(stored.get(request)).toEqual(isKept ? { party, user: 'alice' } : before)
  })

  it('that was disabled while the payment waited pays nothing', async () => {
    const scenario = new Scenario()
    const { alice, idle, reference } = registered(scenario)
    scenario.tap(alice, '200')
    const renewal = { party: alice.party, user: 'bob' }
    const { autoRenewals } = memoryAutoRenewals({ [reference]: renewal })
    const { submitter, submitters } = refusing('CHOICE_REFUSED')
    const queue = createPartyQueue()
    const ledger = ledgerOf(scenario)
    const userOf = async () => 'bob'
    const deps = { ledger, submitter, queue, autoRenewals, userOf }
    const before = queue.run(alice.party, signal, () => autoRenewals.set(reference, null))
    await payDueRenewal(deps, idle, signal)
    await before
    expect(submitters).toEqual([])
    await autoRenewals.set(reference, renewal)
    await expect(payDueRenewal(deps, idle, signal)).rejects.toMatchObject({
      code: 'CHOICE_REFUSED',
    })
    // It is work of the user who switched it on.
    expect(submitters).toEqual(['bob'])
  })

  it('that is paused pays nothing, and says so', async () => {
    const scenario = new Scenario()
    const { alice, idle, reference } = registered(scenario)
    scenario.tap(alice, '200')
    const { autoRenewals } = memoryAutoRenewals({ [reference]: { party: alice.party, user: null } })
    const { submitter, submitters } = refusing('CHOICE_REFUSED')
    const ledger = ledgerOf(scenario)
    const userOf = async () => null
    const deps = { ledger, submitter, queue: createPartyQueue(), autoRenewals, userOf }
    expect(await payDueRenewal(deps, idle, signal)).toBe('paused')
    expect(submitters).toEqual([])
  })

  it('is deleted once its subscription, request and payment have ended', async () => {
    const scenario = new Scenario()
    const { alice, reference } = registered(scenario)
    const open = scenario.request(alice, 'open.unverified.ns').request
    scenario.tap(alice, '200')
    const paid = scenario.request(alice, 'paid.unverified.ns')
    const ended = `00${'e'.repeat(64)}`
    const renewal = { party: alice.party, user: 'alice' }
    const { autoRenewals, stored } = memoryAutoRenewals({
      [reference]: renewal,
      [open]: renewal,
      [paid.request]: renewal,
      [ended]: renewal,
    })
    await forgetEndedRenewals({ ledger: ledgerOf(scenario), autoRenewals })
    expect([...stored.keys()].toSorted()).toEqual([reference, open, paid.request].toSorted())
    expect(scenario.balance(alice).unlocked).toBe(amountOf('200'))
  })
})
