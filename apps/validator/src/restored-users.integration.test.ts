/** Users recover their parties after the store of users was restored from an older backup, or lost. */

import { createLogger } from '@quorumscan/runtime'
import {
  createHttpClient,
  type HttpClient,
  startRestartable,
  until,
  untilTrue,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { readStore, type StorePart, writeStore } from '@quorumscan/users'
import { expect } from 'vitest'
import { startValidator } from './server.ts'
import { startNetwork, type TestNetwork } from './testing/network.ts'

const TRANSFERS = '/v0/wallet/token-standard/transfers'
const logger = createLogger({ name: 'validator', level: 'silent' })
const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork()),
  )
  .extend('validator', { scope: 'file' }, async ({ network, fileResources }) => {
    const open = async (changes: Partial<TestNetwork['config']> = {}) => {
      const validator = await startValidator({ ...network.config, ...changes }, { logger })
      await untilTrue('the validator to be ready', async () => {
        const client = createHttpClient(validator.url, null)
        return (await client.get('/api/validator/readyz')).status === 200
      })
      return validator
    }
    return fileResources.opened(await startRestartable(open))
  })
  /** Replaces the Redis by one that has only `parts`. */
  .extend(
    'lose',
    { scope: 'file' },
    ({ validator, network }) =>
      async (
        parts: readonly StorePart[],
        changes: Partial<TestNetwork['config']> = {},
      ): Promise<void> => {
        await validator.stop()
        const redis = network.redis.connect()
        await redis.flushall()
        redis.disconnect()
        async function* each() {
          yield* parts
        }
        await writeStore(network.config.redis.place, each())
        await validator.start(changes)
      },
  )
  .extend(
    'clientOf',
    { scope: 'file' },
    ({ validator, network }) =>
      async (user: string): Promise<HttpClient> => {
        return createHttpClient(validator.url, await network.token(user))
      },
  )
  .extend(
    'register',
    { scope: 'file' },
    ({ clientOf }) =>
      async (user: string): Promise<string> => {
        return String((await (await clientOf(user)).post('/v0/register')).body['party_id'])
      },
  )
  /** Allocates a party without a user, like an administrator. */
  .extend(
    'allocate',
    { scope: 'file' },
    ({ clientOf }) =>
      async (hint: string): Promise<string> => {
        const admin = await clientOf('participant_admin')
        const answer = await admin.post('/v2/parties', { partyIdHint: hint })
        expect(answer).toAnswer(200)
        return (answer.body['partyDetails'] as { party: string }).party
      },
  )
  /** Pays for the name with the user's coin; resolves when it is registered. */
  .extend(
    'buyName',
    { scope: 'file' },
    ({ clientOf }) =>
      async (user: string, name: string): Promise<void> => {
        const client = await clientOf(user)
        const request = await client.post('/v0/entry/create', { name, url: '', description: '' })
        const { subscriptionRequestCid } = request.body
        const accepted = await client.post(
          `/v0/wallet/subscription-requests/${subscriptionRequestCid}/accept`,
        )
        expect(accepted).toAnswer(200)
        await until(name, async () => {
          const { status } = await client.get(`/v0/scan-proxy/ans-entries/by-name/${name}`)
          return status === 200 || undefined
        })
      },
  )
  /** Runs before all tests, also those that do not name it: they need its users. */
  .extend(
    'past',
    { scope: 'file', auto: true },
    async ({ network, register, allocate, clientOf }) => {
      await register('early')
      await allocate('given-before')
      const backup = await readStore(network.config.redis.place)
      /** Of users who registered after the backup. */
      const partySince = new Map<string, string>()
      for (const user of ['late', 'given-before', 'given-since', 'participant_admin']) {
        if (user === 'given-since') await allocate(user)
        partySince.set(user, await register(user))
      }
      await allocate('treasure')
      const late = await clientOf('late')
      expect(await late.post('/v0/wallet/tap', { amount: '10.0' })).toAnswer(200)
      const transfer = {
        receiver_party_id: partySince.get('late'),
        amount: '1',
        description: '',
        expires_at: network.clock.nowMicros() + 3_600_000_000,
        tracking_id: 'after the backup',
      }
      expect(await late.post(TRANSFERS, transfer)).toAnswer(200)
      const balanceBefore = (await late.get('/v0/wallet/balance')).body
      const repeated = await late.post(TRANSFERS, transfer)
      return { backup, partySince, balanceBefore, transfer, repeated }
    },
  )
  .extend('backup', { scope: 'file' }, ({ past }) => past.backup)
  .extend('partySince', { scope: 'file' }, ({ past }) => past.partySince)
  .extend('balanceBefore', { scope: 'file' }, ({ past }) => past.balanceBefore)

it('users who registered after the backup recover their parties, and spend their coin', async ({
  lose,
  backup,
  register,
  partySince,
  clientOf,
  balanceBefore,
  buyName,
}) => {
  await lose(backup)
  expect(await register('late')).toBe(partySince.get('late'))
  const late = await clientOf('late')
  expect((await late.get('/v0/wallet/balance')).body).toEqual(balanceBefore)
  await buyName('late', 'late.unverified.ns')
  expect((await late.get('/v0/wallet/balance')).body).not.toEqual(balanceBefore)
  expect(await register('late')).toBe(partySince.get('late'))
})

it('a payment after the backup is not made again, and the repeat has the first result', async ({
  clientOf,
  register,
  past: { transfer, repeated },
}) => {
  await register('late')
  const late = await clientOf('late')
  const again = await late.post(TRANSFERS, transfer)
  expect(again).toMatchObject({ status: 409, body: { code: 'DUPLICATE_COMMAND' } })
  expect(again.body['details']).toEqual(repeated.body['details'])
  expect(again.body['details']).toMatchObject({ update_id: expect.stringMatching(/^1220/) })
})

it('a user whose party hint an administrator allocated keeps a `_n2` party', async ({
  partySince,
  register,
}) => {
  for (const user of ['given-before', 'given-since']) {
    expect(partySince.get(user)).toMatch(new RegExp(`^${user}_n2::`))
    expect(await register(user)).toBe(partySince.get(user))
  }
})

it('a user does not get a party that another user acts for by then', async ({
  clientOf,
  partySince,
  register,
}) => {
  const admin = await clientOf('participant_admin')
  const party = partySince.get('late')?.replace('late::', 'treasure::')
  const keeper = { name: 'keeper', party_id: party }
  expect((await admin.post('/v0/admin/users', keeper)).body).toEqual({ party_id: party })
  expect(await register('treasure')).toMatch(/^treasure_n2::/)
})

it('all users recover their parties if the operator accepted the loss of all users', async ({
  lose,
  partySince,
  register,
  buyName,
}) => {
  await lose([], { isLossAccepted: true })
  for (const [user, party] of partySince) expect(await register(user)).toBe(party)
  await buyName('late', 'later.unverified.ns')
})
