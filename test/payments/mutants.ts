/** Mistakes of the SDK and of the validator that pay twice, or say what the ledger does not have. */
import type { Mutation } from '@quorumscan/verifier/testing'
import type { Story } from './stories.ts'

const PAYMENTS = 'sdk/src/wallet/payments.ts'
const STORE = 'sdk/src/wallet/payment-store.ts'
const WALLET = 'packages/wallet/src/wallet/payments.ts'

/** A mistake, and a story that must reveal it. */
export type Mutant = { readonly mutation: Mutation; readonly story: Story }

export const MUTANTS: readonly Mutant[] = [
  {
    mutation: {
      mistake: 'an error of a repeat is a refusal',
      file: PAYMENTS,
      text: "if (turn !== 'repeat' && error.definite && (await isOnly(payment))) return refused(error)",
      by: 'if (error.definite) return refused(error)',
    },
    story: { kind: 'transfer', moment: 'during', faults: ['401'] },
  },
  {
    mutation: {
      mistake: 'the id of the caller is taken for a new one',
      file: PAYMENTS,
      text: 'isNew: input.trackingId === undefined,',
      by: 'isNew: true,',
    },
    story: { kind: 'own id', moment: 'before', faults: ['401', 'second device'] },
  },
  {
    mutation: {
      mistake: 'a record time before the last effect settles',
      file: PAYMENTS,
      text: 'if (proven.recordTime <= lastEffect || search.end < proven.offset) return null',
      by: '',
    },
    story: { kind: 'transfer', moment: 'during', faults: ['lost request'] },
  },
  {
    mutation: {
      mistake: 'the ledger is not searched',
      file: PAYMENTS,
      text: "if (search.kind === 'found') {",
      by: "if (search.kind === 'found' && payment.sends > 9) {",
    },
    story: { kind: 'transfer', moment: 'after', faults: ['repeat after expiry'] },
  },
  {
    mutation: {
      mistake: 'nothing is stored before it is sent',
      file: STORE,
      text: 'if (next !== text) await store.set(key, next)',
      by: '',
    },
    story: { kind: 'transfer', moment: 'after', faults: ['page closed'] },
  },
  {
    mutation: {
      mistake: 'a settled payment stays',
      file: STORE,
      text: 'list: list.filter((other) => slot(other) !== slot(payment)),',
      by: 'list,',
    },
    story: { kind: 'transfer', moment: 'after', faults: ['lost answer'] },
  },
  {
    mutation: {
      mistake: 'the validator keeps no record',
      file: WALLET,
      text: 'if (until === undefined || content === undefined) return null',
      by: 'return null',
    },
    story: {
      kind: 'own id',
      moment: 'after',
      faults: ['repeat after the period', 'second device'],
    },
  },
  {
    mutation: {
      mistake: 'the validator reads nothing after a restore',
      file: WALLET,
      text: 'while (((await store.reached())?.offset ?? -1) < offset) await pass()',
      by: 'if ((await store.reached()) !== null) await pass()',
    },
    story: {
      kind: 'own id',
      moment: 'after',
      faults: ['validator restored', 'repeat after the period', 'second device'],
    },
  },
  {
    mutation: {
      mistake: 'a refused repeat of a registration settles it',
      file: 'sdk/src/wallet/registration-steps.ts',
      text: 'isLeft: left.includes(requestCid)',
      by: 'isLeft: false',
    },
    story: { kind: 'register', moment: 'during', faults: ['401'] },
  },
  {
    mutation: {
      mistake: 'a refused repeat of a renewal settles it',
      file: 'sdk/src/wallet/renewal.ts',
      text: 'isUnknown = isLeft',
      by: 'isUnknown = false',
    },
    story: { kind: 'renew', moment: 'during', faults: ['401'] },
  },
  {
    mutation: {
      mistake: 'a registration is not stored before it is sent',
      file: 'sdk/src/wallet/name-payments.ts',
      text: 'if (payment !== null) stored = await store.begin(payment, signal)',
      by: 'payment = null',
    },
    story: { kind: 'register', moment: 'during', faults: ['page closed'] },
  },
  {
    mutation: {
      mistake: 'a renewal is not stored before it is sent',
      file: 'sdk/src/wallet/name-payments.ts',
      text: 'if (payment !== null) stored = await store.beforeSend(payment, signal, contractId)',
      by: '',
    },
    story: { kind: 'renew', moment: 'during', faults: ['page closed'] },
  },
  {
    mutation: {
      mistake: 'the transaction of a renewal is not read',
      file: 'sdk/src/wallet/name-payments.ts',
      text: 'if (end === null || !PAYS.includes(end.choice)) continue',
      by: 'if (end !== null || !PAYS) continue',
    },
    story: { kind: 'renew', moment: 'after', faults: ['synchronizer paused'] },
  },
]

/** They change nothing: the stories of all mutants must hold. */
export const CONTROLS: readonly Mutation[] = [
  {
    mistake: 'none',
    file: PAYMENTS,
    text: "const PROBE = 'payments.",
    by: "const PROBE = 'payments.",
  },
  { mistake: 'none', file: STORE, text: 'UNFINISHED_MAX = 100', by: 'UNFINISHED_MAX = 100' },
  { mistake: 'none', file: WALLET, text: 'PORTION = 500', by: 'PORTION = 500' },
]
