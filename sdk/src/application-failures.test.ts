/** What the application passes may be wrong: it is never reported as a failure of the network, nor believed as an answer. */
import { describe, expect, it } from 'vitest'
import { createResolver } from './naming/index.ts'
import { createScan } from './scan.ts'
import { createValidator } from './validator.ts'

const URL = 'http://127.0.0.1:9'
const GENESIS = 'c'.repeat(64)
const broken = (): never => {
  throw new TypeError('planted')
}
const noResponse = (async () => undefined) as unknown as typeof fetch
const FAILED = {
  code: 'APPLICATION_FAILED',
  cause: expect.objectContaining({ message: expect.any(String) }),
}

describe('a client', () => {
  it('of a validator names a `traceparent` that throws, before anything is sent', async () => {
    let sent = 0
    const counting = async () => {
      sent++
      return new Response('{}')
    }
    const { wallet } = createValidator({ url: URL, traceparent: broken, fetch: counting })
    for (const call of [() => wallet.balance(), () => wallet.tap({ usd: '1' })])
      await expect(call()).rejects.toMatchObject({ ...FAILED, definite: true })
    expect(sent).toBe(0)
  })

  it('of nodes names a `traceparent` that throws', async () => {
    const scan = createScan({ seeds: [URL], genesis: GENESIS, traceparent: broken })
    await expect(scan.names.resolve('alice')).rejects.toMatchObject(FAILED)
    await scan.close()
  })

  it('names a `fetch` that returns no response; a write may have been sent', async () => {
    const { wallet } = createValidator({ url: URL, fetch: noResponse })
    await expect(wallet.balance()).rejects.toMatchObject({ ...FAILED, definite: true })
    await expect(wallet.tap({ usd: '1' })).rejects.toMatchObject({ ...FAILED, definite: false })
  })

  it('of a resolver of the application names its failure', async () => {
    const own = { id: 'dns', basis: 'votes', accepts: () => true, resolve: broken, reverse: broken }
    const resolver = createResolver({ network: 'localnet', resolvers: [own as never] })
    const { kind, failures } = await resolver.resolve('alice')
    expect([kind, failures[0]?.error.code]).toEqual(['failed', 'APPLICATION_FAILED'])
  })
})
