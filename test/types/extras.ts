/** What a developer writes with the other entry points: receipts, a store in a file, tests, React. */
import { createScan } from '@quorumscan/sdk'
import { createFileStore } from '@quorumscan/sdk/node'
import { type Trust, useName, useReverse } from '@quorumscan/sdk/react'
import { parseGenesis, requestOfLookup, verifyReceipt } from '@quorumscan/sdk/receipts'
import { startCluster } from '@quorumscan/sdk/testing'

export async function check(receipt: unknown, document: unknown): Promise<readonly string[]> {
  const genesis = parseGenesis(document)
  const request = requestOfLookup({ name: 'alice.unverified.ns' })
  const { signers } = await verifyReceipt(receipt, { genesis, request, threshold: 3 })
  // @ts-expect-error What the receipt should be for is never left out.
  await verifyReceipt(receipt, { genesis })
  return signers
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
  // @ts-expect-error Only where it is verified there is a party.
  const always: string = payee
  return `${shown} ${always} ${useReverse(party).name}`
}
