/** Calls with a signal that may be undefined, compiled with `exactOptionalPropertyTypes`. */
import {
  balanceQuery,
  type ContractId,
  createScan,
  createValidator,
  nameQuery,
  parseParty,
  type Submission,
} from '@quorumscan/sdk'
import { createResolver, scanNames } from '@quorumscan/sdk/naming'
import { createSpliceScan } from '@quorumscan/sdk/splice'
import type { TestCluster } from '@quorumscan/sdk/testing'

const scan = createScan({ seeds: ['https://sv-1.example.com'], genesis: 'ab'.repeat(32) })
const validator = createValidator({ url: 'https://validator.example.com', token: 'token' })
const resolver = createResolver({
  network: 'localnet',
  resolvers: [scanNames(scan, { id: 'cns' })],
})
const splice = createSpliceScan({ seeds: ['https://scan.example.com'] })

type Possible = { readonly signal: AbortSignal | undefined }

export async function read(name: string, party: string, { signal }: Possible): Promise<void> {
  await scan.names.resolve(name, { signal })
  await scan.names.lookup(name, { signal })
  await scan.names.resolveMany([name], { signal })
  await scan.names.reverse(party, { signal })
  await scan.names.reverseMany([party], { signal })
  await scan.names.isAvailable(name, { signal })
  await scan.names.metadata(party, { signal })
  await scan.names.registryUrls(party, { signal })
  for await (const _ of scan.names.search(name, { signal })) break
  for await (const _ of scan.names.namesOf(party, { signal })) break
  for await (const _ of scan.names.watch(name, { signal })) break
  for await (const _ of scan.activities({ signal })) break
  for await (const _ of validator.updates({ parties: [party], signal })) break
  await resolver.resolve(name, { signal })
  await resolver.reverse(party, { signal })
  for await (const _ of resolver.watch(name, { signal })) break
  await splice.names.lookup(name, { signal })
  await nameQuery(scan.names, name).queryFn({ signal })
  await balanceQuery(validator.wallet).queryFn({ signal })
}

export async function write(id: ContractId, { signal }: Possible): Promise<void> {
  const { names, payments, wallet } = validator
  await names.list({ signal })
  await names.register({ name: 'erin' }, { signal })
  await names.renew('erin', { signal })
  await names.cancel('erin', { signal })
  await names.setAutoRenew('erin', true, { signal })
  await payments.transfer({ receiver: parseParty('erin'), coin: '1.0' }, { signal })
  await payments.acceptTransfer(id, { signal })
  await payments.rejectTransfer(id, { signal })
  await payments.withdrawTransfer(id, { signal })
  await payments.tap({ usd: '1.0' }, { signal })
  await payments.register({ name: 'erin' }, { signal })
  await payments.renew('erin', { signal })
  for (const { settle } of await payments.unfinished({ signal })) await settle({ signal })
  await wallet.party({ signal })
  await wallet.status({ signal })
  await wallet.balance({ signal })
  await wallet.coins({ signal })
  await wallet.tap({ usd: '1.0', signal })
  await wallet.transfers({ signal })
  await wallet.subscriptions({ signal })
  await wallet.subscriptionRequests({ signal })
  await wallet.subscriptionRequest(id, { signal })
  await wallet.acceptSubscriptionRequest(id, { signal })
  await wallet.rejectSubscriptionRequest(id, { signal })
  await wallet.initialPayments({ signal })
  await wallet.cancelSubscription(id, { signal })
  await wallet.setAutoRenew(id, true, { signal })
  await wallet.paySubscription(id, { signal })
  for await (const _ of wallet.transactions({ signal })) break
}

export async function submit(submission: Submission, { signal }: Possible): Promise<void> {
  await validator.commands.submit(submission, { signal })
}

export async function wait(cluster: TestCluster, { signal }: Possible): Promise<void> {
  await cluster.waitFor(() => true, { signal })
}
