/** Offers of dust by many parties to one receiver, who also has an offer of worth. */
import { createSystemClock, randomHex, systemRandom } from '@quorumscan/base'
import { send } from '@quorumscan/testkit'
import { createUser } from '../support/client.ts'
import type { Attack } from './attack.ts'

const SENDERS = 20
/** Of a sender, at most. */
const OFFERS = 100
const DUST = '0.0000000001'
const clock = createSystemClock()

type Page = {
  readonly transfers: readonly { readonly contract_id: string }[]
  readonly next_page_token: string | null
}

export const dustOffers: Attack = {
  name: 'dust-offers',
  claim:
    `${SENDERS} parties offer dust to one party, ${OFFERS} times each, which is all that each may. The offer that another ` +
    'one made before them is on the first page by amount, and on the page of its sender; one that it makes after them is ' +
    'the first, and the pages have all.',
  async run({ cluster }) {
    const url = `${cluster.urls.validator}/v0/wallet/token-standard/transfers`
    const receiver = await createUser(cluster, 'receiver', null)
    const offer = async (token: string, amount: string): Promise<number> => {
      const { status } = await send(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: {
          receiver_party_id: receiver.party,
          amount,
          description: '',
          expires_at: clock.nowMicros() + 3_600_000_000,
          tracking_id: randomHex(systemRandom, 8),
        },
      })
      return status
    }
    const friend = await createUser(cluster, 'friend', '1000.0')
    if ((await offer(friend.token, '5.0')) !== 200) throw new Error('the offer was not made')
    const tally = { made: 0, refused: 0 }
    const attack = async (index: number) => {
      const sender = await createUser(cluster, `dust-${index}`, '10.0')
      for (let count = 0; count <= OFFERS; count++)
        tally[(await offer(sender.token, DUST)) === 200 ? 'made' : 'refused']++
    }
    await Promise.all(Array.from({ length: SENDERS }, (_, index) => attack(index)))
    const headers = { authorization: `Bearer ${receiver.token}` }
    const list = async (query: string) => (await send(`${url}?${query}`, { headers })).body as Page
    const isOfFriend = (offer: unknown) => JSON.stringify(offer).includes(friend.party)
    const byAmount = (await list('order=amount')).transfers.some(isOfFriend)
    const bySender = (await list(`sender=${encodeURIComponent(friend.party)}`)).transfers.length
    if ((await offer(friend.token, '6.0')) !== 200) throw new Error('the offer was not made')
    const [newest] = (await list('')).transfers
    const ids = new Set<string>()
    for (let token: string | null = ''; token !== null; ) {
      const page: Page = await list(`page_size=1000${token === '' ? '' : `&page_token=${token}`}`)
      for (const { contract_id } of page.transfers) ids.add(contract_id)
      token = page.next_page_token
    }
    return {
      holds:
        byAmount &&
        bySender === 1 &&
        isOfFriend(newest) &&
        tally.made === SENDERS * OFFERS &&
        ids.size === tally.made + 2,
      figures: {
        'offers of dust': tally.made,
        'refused above the limit': tally.refused,
        'on the first page by amount': String(byAmount),
        'on the page of its sender': bySender,
        'on all pages': ids.size,
      },
    }
  },
}
