/** Every party that the SDK returns can be paid without a cast, compiled with every supported compiler and resolution. */
import {
  createScan,
  createValidator,
  type NameChange,
  type NameEntry,
  type Party,
  parseParty,
  type Transaction,
} from '@quorumscan/sdk'
import { type Candidate, createResolver, type Resolution, scanNames } from '@quorumscan/sdk/naming'
import type { UseShownResult } from '@quorumscan/sdk/react'
import { verifyReceipt } from '@quorumscan/sdk/receipts'
import { createSpliceScan } from '@quorumscan/sdk/splice'

const seeds = ['https://sv-1.example.com']
const scan = createScan({ seeds, genesis: 'ab'.repeat(32) })
const splice = createSpliceScan({ seeds })
const validator = createValidator({ url: 'https://validator.example.com', token: 'token' })
const resolver = createResolver({ network: 'mainnet', resolvers: [scanNames(scan, { id: 'cns' })] })

const pay = (receiver: Party) => validator.payments.transfer({ receiver, coin: '1.0' })

export async function payOwnersOf(name: string, party: string): Promise<void> {
  const found = [
    await scan.names.resolve(name),
    await splice.names.resolve(name),
    await validator.names.resolve(name),
    (await scan.names.reverse(party))?.party ?? null,
    (await splice.names.reverse(party))?.party ?? null,
    (await resolver.resolve(name)).party,
    (await verifyReceipt('', { genesis: 'ab'.repeat(32), name })).entry?.party ?? null,
    await validator.wallet.party(),
    parseParty(party),
  ]
  for (const receiver of found) if (receiver !== null) await pay(receiver)
  for await (const { party } of scan.names.search(name)) if (party !== null) await pay(party)
  for await (const { party } of splice.names.search(name)) if (party !== null) await pay(party)
  for await (const shown of scan.names.watch(name))
    if (shown.kind === 'proven' && shown.value !== null) await pay(shown.value.party)
  for await (const shown of resolver.watch(name))
    if (shown.kind === 'proven' && shown.value !== null) await pay(shown.value.party)
  for (const outcome of await scan.names.resolveMany([name]))
    if (outcome.kind === 'proven' && outcome.value !== null) await pay(outcome.value.party)
  const outcome = await splice.names.lookup(name)
  if (outcome.kind === 'proven' && outcome.value !== null) await pay(outcome.value.party)
  for (const candidate of await resolver.reverse(party)) await pay(candidate.party)
  await pay((await validator.names.register({ name })).party)
  const { partyId } = await validator.wallet.status()
  if (partyId !== '') await pay(partyId)
  for (const { transfer } of await validator.payments.unfinished())
    if (transfer !== null) await pay(transfer.receiver)
}

export const shown = [
  ({ party }: UseShownResult<NameEntry>): Party | null => party,
  ({ party }: UseShownResult<Candidate>): Party | null => party,
  ({ party }: NameChange): Party => party,
  ({ party }: Resolution): Party | null => party,
]

/** Who sent coin, and to whom; null: a text that is not a party. */
export function partiesOf(item: Transaction): readonly (Party | null)[] {
  if (item.transactionType !== 'transfer') return []
  return [item.sender.party, ...item.receivers.map(({ party }) => party)]
}

// @ts-expect-error A typed text is no receiver until it is parsed or resolved.
void validator.payments.transfer({ receiver: 'alice', coin: '1.0' })
