/** Code of developers for the other entry points: receipts, a store in a file, tests, React. */
import {
  createScan,
  type Metadata,
  type OwnNames,
  type PaymentState,
  type Shown,
} from '@quorumscan/sdk'
import {
  createResolver,
  displayParty,
  httpResolver,
  type Resolver,
  scanNames,
} from '@quorumscan/sdk/naming'
import { createFileStore } from '@quorumscan/sdk/node'
import {
  useName,
  useParty,
  usePartyName,
  useRegister,
  useRenew,
  useReverse,
} from '@quorumscan/sdk/react'
import { type NameEntry, verifyReceipt } from '@quorumscan/sdk/receipts'
import { startCluster } from '@quorumscan/sdk/testing'
import { type FakeNames, fakeNames } from '@quorumscan/sdk/testing/fakes'

export async function check(receipt: unknown, document: unknown): Promise<readonly string[]> {
  const pinned = { genesis: ['ab'.repeat(32), 'cd'.repeat(32)], documents: [document] }
  const name = 'alice.unverified.ns'
  const { entry, signers } = await verifyReceipt(receipt, { ...pinned, name, threshold: 3 })
  const found: NameEntry | null = entry
  // @ts-expect-error The genesis is required.
  await verifyReceipt(receipt, { name })
  // @ts-expect-error The entry may be null.
  entry.party
  return found === null ? [] : signers
}

export async function inTests(): Promise<string | null> {
  const cluster = await startCluster({ nodes: 4 })
  await cluster.kill('sv-1')
  await cluster.waitFor(({ nodes }) => nodes.some((node) => node.state === 'down'))
  const scan = createScan({
    seeds: cluster.seeds,
    genesis: cluster.genesis,
    store: createFileStore('store.json'),
  })
  return scan.names.resolve('alice.unverified.ns')
}

export async function typed(text: string): Promise<string> {
  const names: FakeNames = fakeNames({ alice: `alice::1220${'a'.repeat(64)}` })
  const cns = scanNames({ names }, { id: 'cns' })
  const dns = httpResolver({ id: 'dns', url: 'https://resolver.example.com', skip: [/\.ns$/] })
  const resolver = createResolver({ network: 'mainnet', resolvers: [cns, dns], minBasis: 'votes' })
  const found = await resolver.resolve(text, { acceptChange: () => false })
  // @ts-expect-error Only an answer that is checked has a party.
  const always: string = found.party
  if (found.party === null) return found.failures.map(({ error }) => error.code).join()
  const party: string = found.party
  return `${always} ${displayParty(await resolver.reverse(party), party).source}`
}

export async function registry(admin: string): Promise<string> {
  const { names } = createScan({ seeds: ['https://sv-1.example.com'], genesis: 'ab'.repeat(32) })
  const metadata: Metadata | null = await names.metadata(admin, { threshold: 'strong' })
  // @ts-expect-error A party may have none.
  const always: string = metadata
  const urls: readonly string[] = await names.registryUrls(admin)
  return urls[0] ?? always
}

export function usePayee(name: string, party: string): string {
  const { shown, party: payee } = useName(name, { expectParty: party })
  const kind: Shown<NameEntry>['kind'] = shown.kind
  // @ts-expect-error The party is null unless it is proven.
  const always: string = payee
  return `${kind} ${always} ${useReverse(party).name}`
}

export function useReason(name: string): string {
  const { shown, data } = useName(name, { query: { select: ({ kind }) => kind.length } })
  const length: number = data
  // @ts-expect-error Only a failure has an error.
  shown.error.code
  return shown.kind === 'failed' ? shown.error.code : `${length}`
}

export function useRecipient(typed: string, resolver: Resolver): string {
  const { shown, party, data, acceptChange } = useParty(typed, {
    resolver,
    query: { enabled: typed !== '', select: ({ kind }) => kind },
  })
  const name: string | undefined = shown.kind === 'proven' ? shown.value?.displayName : undefined
  const kind: string = data
  // @ts-expect-error The party is null unless it is proven.
  const always: string = party
  void acceptChange()
  return `${name} ${kind} ${always} ${usePartyName(party ?? '').source}`
}

export function useOwn(names: OwnNames): PaymentState | null {
  const { mutate, steps, data } = useRegister({ names })
  const renewal = useRenew({ names })
  mutate({ name: 'alice', autoRenew: true })
  renewal.mutate({ name: 'alice', after: data?.entry.expiresAt ?? '' })
  // @ts-expect-error A renewal needs a name.
  renewal.mutate({})
  return steps.some(({ step }) => step === 'active') ? renewal.payment : null
}
