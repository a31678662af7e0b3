/** For tests: a network with one validator and its users. */
import { createLogger } from '@quorumscan/runtime'
import type { NetworkRules } from '@quorumscan/scan/testing'
import { createHttpClient, type HttpAnswer, type HttpClient, until } from '@quorumscan/testkit'
import { expect } from 'vitest'
import { startValidator } from '../server.ts'
import { startNetwork, type TestNetwork } from './network.ts'

const logger = createLogger({ name: 'validator', level: 'silent' })

export type TestUser = { readonly client: HttpClient; readonly party: string }

export type TestValidator = AsyncDisposable & {
  readonly network: TestNetwork
  /** Where the validator listens now, without a trailing slash. */
  url(): string
  anyone(): HttpClient
  clientOf(user: string): Promise<HttpClient>
  /** A registered user with so much coin, worth USD. */
  registered(user: string, usd?: string | null): Promise<TestUser>
  /** Stops the validator and starts it again with its stored data. */
  restart(): Promise<void>
  until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T>
}

export async function startTestValidator(genesis: NetworkRules = {}): Promise<TestValidator> {
  const network = await startNetwork(1, genesis)
  const start = () => startValidator(network.config, { logger, clock: network.clock })
  let validator = await start()
  const url = () => validator.url
  const anyone = () => createHttpClient(url, null)
  const ready = () =>
    until('the validator to be ready', async () =>
      (await anyone().get('/api/validator/readyz')).status === 200 ? true : undefined,
    )
  const clientOf = async (user: string) => createHttpClient(url, await network.token(user))
  await ready()
  return {
    network: {
      ...network,
      async advance(micros) {
        await network.advance(micros)
        // What it knows of the ledger is old until its replica has the new time.
        await ready()
      },
    },
    url,
    anyone,
    clientOf,
    until,
    async registered(user, usd = '10.0') {
      const client = await clientOf(user)
      const { party_id: party } = (await client.post('/v0/register')).body
      if (usd !== null) expect(await client.post('/v0/wallet/tap', { amount: usd })).toAnswer(200)
      return { client, party: String(party) }
    },
    async restart() {
      await validator[Symbol.asyncDispose]()
      validator = await start()
      await ready()
    },
    async [Symbol.asyncDispose]() {
      await validator[Symbol.asyncDispose]()
      await network[Symbol.asyncDispose]()
    },
  }
}

/** Status and code of an error, whose body has the members of D-6. */
export function failure(answer: HttpAnswer): { status: number; code: unknown } {
  expect(Object.keys(answer.body).sort(), JSON.stringify(answer.body)).toEqual([
    'code',
    'definite',
    'details',
    'error',
    'request_id',
    'retryable',
  ])
  return { status: answer.status, code: answer.body['code'] }
}

/** `{unlocked, locked}` of the user, as the wallet reports it. */
export async function balanceOf(client: HttpClient): Promise<{ unlocked: string; locked: string }> {
  const { body } = await client.get('/v0/wallet/balance')
  return {
    unlocked: String(body['effective_unlocked_qty']),
    locked: String(body['effective_locked_qty']),
  }
}
