/** A validator whose replica cannot continue. */
import { toHex } from '@quorumscan/base'
import { createTestNetwork, send, serve, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { encodeStateStatement } from '@quorumscan/verifier'
import { encodeCertificate } from '@quorumscan/verifier/certified'
import { expect } from 'vitest'
import { startValidator } from './server.ts'
import { startNetwork, type TestNetwork } from './testing/network.ts'

const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork()),
  )
  .extend(
    'start',
    ({ network }) =>
      (
        config: Partial<TestNetwork['config']> = {},
        overrides: Parameters<typeof startValidator>[1] = {},
      ) =>
        startValidator({ ...network.config, ...config }, { clock: network.clock, ...overrides }),
  )

const readiness = (url: string) => send(`${url}/api/validator/readyz`)

it('fails with the error that its replica stopped with', async ({ start }) => {
  const bug = new Error('a bug')
  await using validator = await start(
    {},
    {
      extend: ({ parts }) => {
        parts.follower.replica.onApplied(() => {
          throw bug
        })
      },
    },
  )
  await expect(validator.failed).resolves.toBe(bug)
})

it('fails again after a restart if the data of its replica is damaged', async ({
  network,
  start,
}) => {
  const redis = network.redis.connect()
  for (const key of await redis.keys('{replica}:contracts:*'))
    for (const field of await redis.hkeysBuffer(key)) await redis.hset(key, field, 'damage')
  await using validator = await start()
  await expect(validator.failed).resolves.toMatchObject({ message: /stored contract/ })
  await redis.del(...(await redis.keys('{replica}:*')))
  redis.disconnect()
})

it('is not ready once f + 1 members signed another history than its replica has', async ({
  network,
  start,
}) => {
  const { genesis, genesisHash } = network
  const { recordTime } = genesis
  const point = { offset: 0, recordTime, historyHash: 'f'.repeat(64), stateRoot: 'f'.repeat(64) }
  const [key] = createTestNetwork({ nodeCount: 1 }).scans
  const signature = key?.sign(encodeStateStatement({ ...point, genesisHash }))
  const statement = encodeCertificate({
    ...point,
    genesisHash,
    signatures: [['sv-1', toHex(signature ?? new Uint8Array())]],
  })
  await using member = await serve((request, response) => {
    if (request.url === '/v0/state-statements?after=0')
      response.end(`{"statements":[${statement}]}`)
  })
  await using validator = await start({ nodes: [{ name: 'sv-1', url: member.url }] })
  await untilTrue('the validator to report the fork', async () => {
    const { status, body } = await readiness(validator.url)
    return status !== 200 && body.code === 'LOG_FORK'
  })
})
