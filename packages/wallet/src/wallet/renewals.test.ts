import { ScanError } from '@quorumscan/errors'
import type { Ledger } from '@quorumscan/ledger'
import { amountOf, Scenario } from '@quorumscan/ledger/testing'
import type { CheckedSubmitter } from '@quorumscan/submit'
import type { AutoRenewals } from '@quorumscan/users'
import { describe, expect, it } from 'vitest'
import { createPartyQueue } from './party-queue.ts'
import { acceptRequest } from './requests.ts'
import { forgetEndedRenewals, payDueRenewal } from './subscriptions.ts'

const { signal } = new AbortController()

/** What the user store keeps, in memory. */
function memoryAutoRenewals(enabled: readonly string[] = []) {
  const references = new Set(enabled)
  const autoRenewals: AutoRenewals = {
    set: async ({ reference, isEnabled }) => {
      if (isEnabled) references.add(reference)
      else references.delete(reference)
    },
    areEnabled: async (asked) => asked.map((reference) => references.has(reference)),
    async *portions() {
      yield [...references]
    },
    forget: async (ended) => {
      for (const reference of ended) references.delete(reference)
    },
  }
  return { autoRenewals, references }
}

function ledgerOf({ ledger }: Scenario): Ledger {
  return {
    head: () => ledger.head(),
    contracts: async (ids) => ids.map((id) => ledger.contract(id)),
    contractsByKey: async (key) => ledger.byKey(key),
    isPartyAllocated: async (party) => ledger.isPartyAllocated(party),
    dueItems: async ({ job }) => ledger.due().filter((item) => item.job === job),
    dryRun: async () => ({ kind: 'checkpoint' }),
    onApplied: () => () => {},
  }
}

/** A submitter that refuses everything, or whose outcomes are unknown. */
function refusing(code: 'CHOICE_REFUSED' | 'SUBMISSION_UNKNOWN') {
  let submissions = 0
  const submitter: CheckedSubmitter = {
    dryRun: async () => null,
    submit: async () => {
      submissions++
      throw new ScanError(code, code)
    },
  }
  return { submitter, submissions: () => submissions }
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
    const { autoRenewals, references } = memoryAutoRenewals()
    const { submitter } = refusing(code)
    const deps = {
      ledger: ledgerOf(scenario),
      submitter,
      queue: createPartyQueue(),
      autoRenewals,
    }
    const user = { userId: 'alice', party: alice.party }
    const input = { user, contractId: request, isAutoRenewed: true }
    await expect(acceptRequest(deps, { ...input, signal })).rejects.toMatchObject({ code })
    expect(references.has(request)).toBe(isKept)
  })

  it('that was disabled while the payment waited pays nothing', async () => {
    const scenario = new Scenario()
    const { alice, idle, reference } = registered(scenario)
    scenario.tap(alice, '200')
    const { autoRenewals } = memoryAutoRenewals([reference])
    const { submitter, submissions } = refusing('CHOICE_REFUSED')
    const queue = createPartyQueue()
    const ledger = ledgerOf(scenario)
    const deps = { ledger, submitter, queue, autoRenewals, userId: 'automation' }
    const before = queue.run(alice.party, signal, () =>
      autoRenewals.set({ reference, party: alice.party, isEnabled: false }),
    )
    await payDueRenewal(deps, idle, signal)
    await before
    expect(submissions()).toBe(0)
    await autoRenewals.set({ reference, party: alice.party, isEnabled: true })
    await expect(payDueRenewal(deps, idle, signal)).rejects.toMatchObject({
      code: 'CHOICE_REFUSED',
    })
    expect(submissions()).toBe(1)
  })

  it('is deleted once its subscription, request and payment have ended', async () => {
    const scenario = new Scenario()
    const { alice, reference } = registered(scenario)
    const open = scenario.request(alice, 'open.unverified.ns').request
    scenario.tap(alice, '200')
    const paid = scenario.request(alice, 'paid.unverified.ns')
    const ended = `00${'e'.repeat(64)}`
    const { autoRenewals, references } = memoryAutoRenewals([reference, open, paid.request, ended])
    await forgetEndedRenewals({ ledger: ledgerOf(scenario), autoRenewals })
    expect([...references]).toEqual([reference, open, paid.request])
    expect(scenario.balance(alice).unlocked).toBe(amountOf('200'))
  })
})
