/** Cases of names, users and the wallet of the validator. */
import type { validatorRoutes } from '@quorumscan/api'
import { until } from '@quorumscan/testkit'
import { clock, unwrap } from '../client.ts'
import { type Build, broken, type CasesOf, type Cause, cannot } from './case.ts'
import { healthCases } from './health.ts'
import { proxyCases } from './proxy.ts'
import type { World } from './world.ts'

const { NOT_READY, CLOCK_OFF, DEPENDENCY_UNAVAILABLE, LOG_FULL, USERS_LOST } = broken
const VALIDATOR_TEST = 'apps/validator/src/validator.integration.test.ts'
const TRANSFERS_TEST = 'apps/validator/src/transfers.integration.test.ts'
const SUBMITTER_TEST = 'packages/submit/src/submitter.test.ts'
const UNKNOWN_ID = `00${'0'.repeat(64)}`
const HOUR_MICROS = 3_600_000_000

const byUnregistered =
  (build: Build): Build =>
  async (world) => ({ ...(await build(world)), token: await world.strangerToken() })

const byDeactivated =
  (build: Build): Build =>
  async (world) => ({ ...(await build(world)), token: world.deactivatedToken })

const forUnknownContract =
  (more: object = {}): Build =>
  () => ({ params: { contract_id: UNKNOWN_ID }, ...more })

const readErrors = (build: Build) =>
  ({
    NOT_READY,
    CLOCK_OFF,
    DEPENDENCY_UNAVAILABLE,
    WALLET_NOT_FOUND: byUnregistered(build),
  }) satisfies Record<string, Cause>

/** Errors of any submission. Routes replace those that a request to them can cause. */
const submitErrors = (build: Build) =>
  ({
    ...readErrors(build),
    LOG_FULL,
    USERS_LOST,
    PERMISSION_DENIED: byDeactivated(build),
    CONTRACT_CONSUMED: cannot('two concurrent transactions that use one contract', VALIDATOR_TEST),
    CHOICE_REFUSED: cannot('rules that change meanwhile', 'packages/ledger/src/coin.test.ts'),
    DUPLICATE_COMMAND: cannot('two equal concurrent requests', TRANSFERS_TEST),
    SUBMISSION_EXPIRED: cannot('a synchronizer that is late', SUBMITTER_TEST),
    SUBMISSION_UNKNOWN: cannot('a synchronizer that does not answer', SUBMITTER_TEST),
  }) satisfies Record<string, Cause>

const PAYMENTS_TEST = 'packages/wallet/src/wallet/payments.test.ts'
const onceErrors = {
  PAYMENT_DIFFERS: cannot('ids that are the id of a contract', PAYMENTS_TEST),
  PAYMENT_RECORDS_INCOMPLETE: cannot(
    'a store that was restored, and pruned history',
    PAYMENTS_TEST,
  ),
  LIMIT_EXCEEDED: cannot('thousands of payments', PAYMENTS_TEST),
} satisfies Record<string, Cause>

const spendErrors = (build: Build) =>
  ({
    ...submitErrors(build),
    CONTRACT_NOT_FOUND: forUnknownContract(),
    INSUFFICIENT_FUNDS: build,
    LIMIT_EXCEEDED: cannot('thousands of coins', 'packages/ledger/src/coin.test.ts'),
  }) satisfies Record<string, Cause>

/** The request registers the user, who then has a wallet. */
const REGISTERS = cannot('it creates the wallet of the user')

/** A token of another list. */
const badListToken: Build = () => ({ query: { page_token: 'AQ' } })

const entry = (name: string, more: object = {}) => ({
  body: { name, url: '', description: '', ...more },
})

/** An open subscription request of a new user, who has this much coin. */
async function openRequest(world: World, coin: string | null = '1000.0') {
  const user = await world.newUser(coin)
  const contractId = await user.request(world.newName())
  return { user, token: user.token, params: { contract_id: contractId } }
}

/** The only subscription of a new user, in its idle state. */
async function idleSubscription(world: World) {
  const user = await world.newUser()
  await user.pay(world.newName())
  return until('an idle subscription', async () => {
    const [one] = unwrap(await user.client.GET('/v0/wallet/subscriptions')).subscriptions
    if (one === undefined || !('idle' in one.state)) return undefined
    const { subscription, state } = one
    return { user, token: user.token, subscription, idle: state.idle }
  })
}

async function renewable(world: World) {
  const { token, subscription } = await idleSubscription(world)
  return { token, params: { contract_id: subscription.contract_id } }
}

const transferTo = (receiver: string, trackingId: string, amount = '1.0') => ({
  body: {
    receiver_party_id: receiver,
    amount,
    description: '',
    expires_at: clock.nowMicros() + HOUR_MICROS,
    tracking_id: trackingId,
  },
})

/** A pending transfer, and the token of its sender or receiver. */
const pendingTransfer = async (world: World, by: 'sender' | 'receiver') => {
  const [sender, receiver] = [await world.newUser(), await world.newUser(null)]
  const { body } = transferTo(receiver.party, world.fresh())
  const made = await sender.client.POST('/v0/wallet/token-standard/transfers', { body })
  const { output } = unwrap(made)
  if (!('transfer_instruction_cid' in output)) throw new Error('the transfer is not pending')
  const { token } = by === 'sender' ? sender : receiver
  return { token, params: { contract_id: output.transfer_instruction_cid } }
}

const plain: Build = () => ({})
const newEntry: Build = (world) => entry(world.newName())
const tap: Build = () => ({ body: { amount: '1.0' } })
const page: Build = () => ({ body: { page_size: 5 } })
const create: Build = (world) => ({ body: { name: world.fresh('made') } })
const open: Build = async (world) => {
  const { token, params } = await openRequest(world)
  return { token, params }
}
const transfer: Build = ({ user, fresh }) => transferTo(user.party, fresh())
const byReceiver: Build = (world) => pendingTransfer(world, 'receiver')
const bySender: Build = (world) => pendingTransfer(world, 'sender')
const isReadBy = { success: plain, errors: readErrors(plain) }
const isListedBy = {
  success: plain,
  errors: { ...readErrors(plain), INVALID_PAGE_TOKEN: badListToken },
}

/** A subscription request that was rejected before. */
const rejectedRequest: Build = async (world) => {
  const { user, token, params } = await openRequest(world)
  const path = '/v0/wallet/subscription-requests/{contract_id}/reject'
  await user.client.POST(path, { params: { path: params } })
  return { token, params }
}

const transferCase = (build: Build, other: Build) => ({
  success: build,
  errors: {
    ...submitErrors(forUnknownContract()),
    ...onceErrors,
    CONTRACT_NOT_FOUND: forUnknownContract(),
    PERMISSION_DENIED: other,
  },
})

type Table = typeof validatorRoutes

export const validatorCases = {
  ...healthCases,
  ...proxyCases,
  createEntry: {
    success: newEntry,
    errors: {
      ...submitErrors(newEntry),
      NAME_SUFFIX_MISSING: () => entry('fine'),
      INVALID_NAME: () => entry('Fine.unverified.ns'),
      INVALID_URL: (world) => entry(world.newName(), { url: 'gopher://x' }),
      INVALID_DESCRIPTION: (world) => entry(world.newName(), { description: 'x'.repeat(141) }),
      NAME_TAKEN: ({ name }) => entry(name),
      OPEN_REQUEST_LIMIT: async (world) => {
        const user = await world.newUser(null)
        for (let count = 0; count < world.openRequestsMax; count++)
          await user.request(world.newName())
        return { ...entry(world.newName()), token: user.token }
      },
    },
  },
  listOwnEntries: isListedBy,
  registerUser: {
    success: async (world) => ({ body: {}, token: await world.strangerToken() }),
    errors: { ...submitErrors(plain), WALLET_NOT_FOUND: REGISTERS },
    added: { INVALID_ARGUMENT: cannot('the server ignores its body') },
  },
  createUser: {
    success: create,
    errors: {
      ...submitErrors(create),
      WALLET_NOT_FOUND: REGISTERS,
      INVALID_PARTY: ({ fresh }) => ({ body: { name: fresh(), party_id: 'alice' } }),
      USER_EXISTS: async (world) => {
        const [one, other] = [await world.newUser(null), await world.newUser(null)]
        return { body: { name: one.id, party_id: other.party } }
      },
    },
  },
  getValidatorUser: {
    success: plain,
    errors: { ...readErrors(plain), WALLET_NOT_FOUND: cannot('the operator has a wallet') },
  },
  getUserStatus: {
    success: plain,
    errors: {
      ...readErrors(plain),
      WALLET_NOT_FOUND: cannot('it answers that the user has no wallet'),
    },
    added: { PERMISSION_DENIED: cannot('a deactivated user may also read it') },
  },
  tap: {
    success: tap,
    errors: {
      ...submitErrors(tap),
      DEVNET_ONLY: cannot('a network that is not a devnet', 'packages/ledger/src/coin.test.ts'),
      ...onceErrors,
      DUPLICATE_COMMAND: cannot('two processes of one validator', TRANSFERS_TEST),
      PAYMENT_DIFFERS: async ({ user, fresh }) => {
        const body = { amount: '1.0', command_id: fresh() }
        unwrap(await user.client.POST('/v0/wallet/tap', { body }))
        return { body: { ...body, amount: '2.0' } }
      },
    },
  },
  getBalance: isReadBy,
  listCoins: isListedBy,
  listTransactions: {
    success: page,
    errors: {
      ...readErrors(page),
      OFFSET_PRUNED: cannot(
        'a replica that was rebuilt without a part of the range',
        'packages/replica/src/activities.integration.test.ts',
      ),
    },
  },
  listSubscriptionRequests: isReadBy,
  getSubscriptionRequest: {
    success: open,
    errors: { ...readErrors(forUnknownContract()), CONTRACT_NOT_FOUND: forUnknownContract() },
  },
  acceptSubscriptionRequest: {
    success: open,
    errors: {
      ...spendErrors(forUnknownContract()),
      CONTRACT_CONSUMED: rejectedRequest,
      INSUFFICIENT_FUNDS: async (world) => {
        const { token, params } = await openRequest(world, null)
        return { token, params }
      },
    },
    added: {
      INVALID_ARGUMENT: async (world) => ({ ...(await open(world)), body: { auto_renew: 'x' } }),
    },
  },
  rejectSubscriptionRequest: {
    success: open,
    errors: {
      ...submitErrors(forUnknownContract()),
      CONTRACT_NOT_FOUND: forUnknownContract(),
      CONTRACT_CONSUMED: rejectedRequest,
    },
  },
  cancelSubscription: {
    success: async (world) => {
      const { token, idle } = await idleSubscription(world)
      return { token, params: { contract_id: idle.contract_id } }
    },
    errors: { ...submitErrors(forUnknownContract()), CONTRACT_NOT_FOUND: forUnknownContract() },
  },
  listInitialPayments: isReadBy,
  listSubscriptions: isListedBy,
  setAutoRenew: {
    success: async (world) => ({ ...(await renewable(world)), body: { enabled: true } }),
    errors: {
      ...readErrors(forUnknownContract({ body: { enabled: true } })),
      CONTRACT_NOT_FOUND: forUnknownContract({ body: { enabled: true } }),
    },
  },
  paySubscription: {
    success: renewable,
    errors: {
      ...spendErrors(forUnknownContract()),
      // After one renewal, the next window opens when the first period has ended.
      CHOICE_REFUSED: async (world) => {
        const { user, token, subscription } = await idleSubscription(world)
        const params = { contract_id: subscription.contract_id }
        const path = '/v0/wallet/subscriptions/{contract_id}/pay'
        unwrap(await user.client.POST(path, { params: { path: params } }))
        return { token, params }
      },
      INSUFFICIENT_FUNDS: async (world) => {
        const { user, token, subscription } = await idleSubscription(world)
        const balance = await user.balance()
        const { body } = transferTo(world.user.party, world.fresh(), balance.effective_unlocked_qty)
        unwrap(await user.client.POST('/v0/wallet/token-standard/transfers', { body }))
        return { token, params: { contract_id: subscription.contract_id } }
      },
    },
  },
  createTransfer: {
    success: transfer,
    errors: {
      ...spendErrors(transfer),
      ...onceErrors,
      CONTRACT_NOT_FOUND: cannot('a coin that a concurrent transaction used', VALIDATOR_TEST),
      PAYMENT_DIFFERS: async ({ user, fresh }) => {
        const { body } = transferTo(user.party, fresh())
        unwrap(await user.client.POST('/v0/wallet/token-standard/transfers', { body }))
        return { body: { ...body, amount: '0.5' } }
      },
      INVALID_PARTY: ({ fresh }) => transferTo('alice', fresh()),
      INSUFFICIENT_FUNDS: ({ user, fresh }) => transferTo(user.party, fresh(), '999999999'),
      DUPLICATE_COMMAND: async ({ user, fresh }) => {
        const { body } = transferTo(user.party, fresh())
        unwrap(await user.client.POST('/v0/wallet/token-standard/transfers', { body }))
        return { body }
      },
    },
  },
  listTransfers: {
    success: plain,
    errors: {
      ...readErrors(plain),
      INVALID_PAGE_TOKEN: badListToken,
      INVALID_PARTY: () => ({ query: { sender: 'alice' } }),
    },
  },
  acceptTransfer: transferCase(byReceiver, bySender),
  rejectTransfer: transferCase(byReceiver, bySender),
  withdrawTransfer: transferCase(bySender, byReceiver),
} satisfies CasesOf<Table>
