/** Work of a user that waits when an administrator deactivates the user. */
import { expect } from 'vitest'
import { balanceOf, type TestUser } from './testing/test-validator.ts'
import { itInWorld as it } from './testing/world-fixtures.ts'

const MINUTE_MICROS = 60_000_000
const DELAY_SECONDS = 30

/** Unlocked and locked coin. */
async function coinOf({ client }: TestUser): Promise<number> {
  const { unlocked, locked } = await balanceOf(client)
  return Number(unlocked) + Number(locked)
}

it('a payment in the queue and a delayed command of a user who is then deactivated have no effect', async ({
  world,
  admin,
  contracts,
}) => {
  const [alice, bob] = [await world.registered('alice'), await world.registered('bob')]
  const before = { alice: await coinOf(alice), bob: await coinOf(bob) }
  const later = { minLedgerTimeRel: { seconds: DELAY_SECONDS } }
  for (const { client, party } of [alice, bob])
    expect(
      await client.post('/v2/commands/async/submit', contracts.tapRequest(party, later)),
    ).toAnswer(200)

  const release = world.network.holdValidator()
  const pay = (id: string) =>
    alice.client.post('/v0/wallet/token-standard/transfers', {
      receiver_party_id: bob.party,
      amount: '5',
      description: '',
      expires_at: world.network.clock.nowMicros() + 10 * MINUTE_MICROS,
      tracking_id: id,
    })
  // The second waits for the first, whose outcome the validator does not see.
  const payments = [pay('first'), pay('second')]
  await balanceOf(alice.client)
  const deactivate = (isDeactivated: boolean) =>
    admin.patch('/v2/users/alice', {
      user: { id: 'alice', isDeactivated },
      updateMask: { paths: ['is_deactivated'] },
    })
  expect(await deactivate(true)).toAnswer(200)
  release()
  expect((await Promise.all(payments))[1]).toAnswer(403, 'PERMISSION_DENIED')
  expect(await alice.client.get('/v0/wallet/balance')).toAnswer(403, 'PERMISSION_DENIED')
  for (const path of ['/v0/wallet/tap', '/v0/register'])
    expect(await alice.client.post(path, { amount: '1' })).toAnswer(403, 'PERMISSION_DENIED')

  await world.network.advance(2 * DELAY_SECONDS * 1_000_000)
  await world.until('the delayed command of another user', async () =>
    (await coinOf(bob)) === before.bob + 1 ? true : undefined,
  )
  expect(await deactivate(false)).toAnswer(200)
  expect(await coinOf(alice)).toBe(before.alice)
})

it('a registration gives nothing to a user who was deleted, or lost its party, before or meanwhile', async ({
  world,
  admin,
}) => {
  const { party } = await world.registered('owner', null)
  const rights = [{ kind: { CanActAs: { value: { party } } } }]
  const create = (id: string) => admin.post('/v2/users', { user: { id }, rights })
  const remove = (id: string) => admin.delete(`/v2/users/${id}`)
  const revoke = (id: string) => admin.patch(`/v2/users/${id}/rights`, { userId: id, rights })
  const register = async (id: string) => (await world.clientOf(id)).post('/v0/register')

  for (const [id, take] of [
    ['before-deleted', remove],
    ['before-revoked', revoke],
  ] as const) {
    expect(await create(id)).toAnswer(200)
    expect(await take(id)).toAnswer(200)
    expect(await register(id)).toAnswer(403, 'PERMISSION_DENIED')
  }
  // Not even a party without a user.
  expect((await admin.get('/v2/parties?filter-party=before')).body.partyDetails).toEqual([])

  const release = world.network.holdValidator()
  const takings = [
    ['meanwhile-deleted', remove],
    ['meanwhile-revoked', revoke],
  ] as const
  // They wait for their parties to be on the ledger.
  const registering = takings.map(([id]) => register(id))
  await admin.get('/v2/users')
  for (const [id, take] of takings) {
    expect(await create(id)).toAnswer(200)
    expect(await take(id)).toAnswer(200)
  }
  release()
  for (const answer of await Promise.all(registering))
    expect(answer).toAnswer(403, 'PERMISSION_DENIED')
})
