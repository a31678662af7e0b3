/** The requests of a user in a chaos run, to a validator that accepts all of them. */
import { json } from 'node:stream/consumers'
import { createManualClock, serve } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createChaosClient } from './client.ts'
import { seededRandom } from './seeded-random.ts'

const REQUESTS = 400

it('the client often pays twice for one name, so that coin is refunded', async () => {
  const over = new AbortController()
  /** The name of each request that is open, and names that were paid while another request for them was open. */
  const open = new Map<string, string>()
  const contested = new Set<string>()
  let count = 0
  const answers = (path: string, body: Record<string, string>): object => {
    count += 1
    if (count === REQUESTS) over.abort()
    if (path === '/v0/entry/create') {
      open.set(`request-${count}`, body['name'] ?? '')
      return { subscriptionRequestCid: `request-${count}` }
    }
    const [, request] = /subscription-requests\/(.*)\/accept$/.exec(path) ?? []
    const name = open.get(request ?? '')
    open.delete(request ?? '')
    if (name !== undefined && [...open.values()].includes(name)) contested.add(name)
    return { party_id: 'client::12', initial_payment_contract_id: 'payment' }
  }
  await using server = await serve(async (request, response) => {
    const body = request.method === 'POST' ? await json(request) : {}
    response.end(JSON.stringify(answers(request.url ?? '', body as Record<string, string>)))
  })
  const client = await createChaosClient({
    shared: {
      validatorUrl: server.url,
      clock: { ...createManualClock(), delay: async () => {} },
      nowMs: () => 0,
      record: () => {},
      names: [],
      parties: [],
      prefix: 'test',
    },
    client: 'client-1',
    token: 'token',
    random: seededRandom('test', 'client 1'),
  })
  await client.run(over.signal)
  expect(contested.size).toBeGreaterThan(12)
})
