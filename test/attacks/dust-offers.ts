/** Offers of dust by many parties to one receiver, who also has an offer of worth. */
import { createSystemClock, randomHex, systemRandom } from '@quorumscan/base'
import { send } from '@quorumscan/testkit'
import { createUser } from '../support/client.ts'
import type { Attack } from './attack.ts'

const SENDERS = 4
/** Of a sender, at most. */
const OFFERS = 100
const DUST = '0.0000000001'
const clock = createSystemClock()

export const dustOffers: Attack = {
  name: 'dust-offers',
  claim:
    `${SENDERS} parties offer dust to one party, ${OFFERS} times each, which is all that each may. The offer that another ` +
    'one made before them is on the first page by amount, and on the page of its sender.',
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
    const list = async (query: string) => {
      const headers = { authorization: `Bearer ${receiver.token}` }
      return JSON.stringify((await send(`${url}?${query}`, { headers })).body)
    }
    const isShown = async (query: string) => (await list(query)).includes(friend.party)
    const byAmount = await isShown('order=amount')
    const bySender = await isShown(`sender=${encodeURIComponent(friend.party)}`)
    return {
      holds: byAmount && bySender && tally.made === SENDERS * OFFERS,
      figures: {
        'offers of dust': tally.made,
        'refused above the limit': tally.refused,
        'on the first page by amount': String(byAmount),
        'on the page of its sender': String(bySender),
      },
    }
  },
}
