/** Code of developers for the other entry points: receipts, a store in a file, tests, React. */
import { createScan } from '@quorumscan/sdk'
import { createFileStore } from '@quorumscan/sdk/node'
import { type Trust, useName, useReverse } from '@quorumscan/sdk/react'
import { type NameEntry, verifyReceipt } from '@quorumscan/sdk/receipts'
import { startCluster } from '@quorumscan/sdk/testing'

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

export function usePayee(name: string, party: string): string {
  const { trust, party: payee } = useName(name, { expectParty: party })
  const shown: Trust = trust
  // @ts-expect-error The party is null unless it is verified.
  const always: string = payee
  return `${shown} ${always} ${useReverse(party).name}`
}
