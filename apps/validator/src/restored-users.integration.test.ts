/** What users find again after the store of users was restored from an older backup, or lost. */

import { createLogger } from '@quorumscan/runtime'
import type { RunningApp } from '@quorumscan/server'
import { createHttpClient, type HttpClient, until, untilTrue } from '@quorumscan/testkit'
import { readStore, type StorePart, writeStore } from '@quorumscan/users'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startValidator } from './server.ts'
import { startNetwork, type TestNetwork } from './testing/network.ts'

const logger = createLogger({ name: 'validator', level: 'silent' })
let network: TestNetwork
let validator: RunningApp
let backup: readonly StorePart[]
/** Of users who registered after the backup. */
const partySince = new Map<string, string>()
let balanceBefore: unknown

beforeAll(async () => {
  network = await startNetwork()
  await start()
  await register('early')
  await allocate('given-before')
  backup = await readStore(network.config.redis.place)
  for (const user of ['late', 'given-before', 'given-since', 'participant_admin']) {
    if (user === 'given-since') await allocate(user)
    partySince.set(user, await register(user))
  }
  await allocate('treasure')
  const late = await clientOf('late')
  expect(await late.post('/v0/wallet/tap', { amount: '10.0' })).toAnswer(200)
  balanceBefore = (await late.get('/v0/wallet/balance')).body
})
afterAll(async () => {
  await validator?.[Symbol.asyncDispose]()
  await network?.[Symbol.asyncDispose]()
})

async function start(changes: Partial<TestNetwork['config']> = {}): Promise<void> {
  validator = await startValidator({ ...network.config, ...changes }, { logger })
  const { url } = validator
  await untilTrue('the validator to be ready', async () => {
    const { status } = await createHttpClient(url, null).get('/api/validator/readyz')
    return status === 200
  })
}

/** Loses the Redis, and begins with what `parts` has. */
async function lose(
  parts: readonly StorePart[],
  changes: Partial<TestNetwork['config']> = {},
): Promise<void> {
  await validator[Symbol.asyncDispose]()
  const redis = network.redis.connect()
  await redis.flushall()
  redis.disconnect()
  async function* each() {
    yield* parts
  }
  await writeStore(network.config.redis.place, each())
  await start(changes)
}

async function clientOf(user: string): Promise<HttpClient> {
  return createHttpClient(validator.url, await network.token(user))
}

async function register(user: string): Promise<string> {
  return String((await (await clientOf(user)).post('/v0/register')).body['party_id'])
}

/** As an administrator does, for no user in particular. */
async function allocate(hint: string): Promise<string> {
  const admin = await clientOf('participant_admin')
  const answer = await admin.post('/v2/parties', { partyIdHint: hint })
  expect(answer).toAnswer(200)
  return (answer.body['partyDetails'] as { party: string }).party
}

/** Pays for the name with the user's coin; resolves when it is registered. */
async function buyName(user: string, name: string): Promise<void> {
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
}

it('users who registered after the backup get their parties back, and spend their coin', async () => {
  await lose(backup)
  expect(await register('late')).toBe(partySince.get('late'))
  const late = await clientOf('late')
  expect((await late.get('/v0/wallet/balance')).body).toEqual(balanceBefore)
  await buyName('late', 'late.unverified.ns')
  expect((await late.get('/v0/wallet/balance')).body).not.toEqual(balanceBefore)
  expect(await register('late')).toBe(partySince.get('late'))
})

it('a party that an administrator gave away stays so, before the backup and after it', async () => {
  for (const user of ['given-before', 'given-since']) {
    expect(partySince.get(user)).toMatch(new RegExp(`^${user}_n2::`))
    expect(await register(user)).toBe(partySince.get(user))
  }
})

it('a user does not get a party that another user acts for by then', async () => {
  const admin = await clientOf('participant_admin')
  const party = partySince.get('late')?.replace('late::', 'treasure::')
  const keeper = { name: 'keeper', party_id: party }
  expect((await admin.post('/v0/admin/users', keeper)).body).toEqual({ party_id: party })
  expect(await register('treasure')).toMatch(/^treasure_n2::/)
})

it('all users get their parties back where the loss of all of them was accepted', async () => {
  await lose([], { isLossAccepted: true })
  for (const [user, party] of partySince) expect(await register(user)).toBe(party)
  await buyName('late', 'later.unverified.ns')
})
