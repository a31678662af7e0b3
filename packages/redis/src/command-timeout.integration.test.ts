import { startRedis, until } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { createConnection } from './connection.ts'

const COMMAND_MS_MAX = 200

const it = base
  .extend('server', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startRedis()),
  )
  .extend('connected', ({ server }) => async () => {
    const redis = createConnection(
      { path: server.socketPath },
      { reconnect: null, commandTimeoutMs: COMMAND_MS_MAX },
    )
    await until('a reply', () => redis.ping().catch(() => undefined))
    return redis
  })

/** Blocks this process, as a long turn of the event loop or a stalled machine does. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

it('fails commands that a hung Redis does not answer, and later ones', async ({
  connected,
  server,
}) => {
  const redis = await connected()
  process.kill(server.pid, 'SIGSTOP')
  try {
    const outcomes = await Promise.allSettled([redis.get('a'), redis.get('b')])
    expect(
      outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message),
    ).toEqual(['Command timed out', 'Command timed out'])
    const [reply] = (await redis.pipeline().get('a').exec()) ?? []
    expect(reply?.[0]?.message).toBe('Command timed out')
  } finally {
    process.kill(server.pid, 'SIGCONT')
    redis?.disconnect()
  }
})

it('accepts a reply that arrived while this process was stalled', async ({ connected }) => {
  const redis = await connected()
  const reply = redis.set('a', '1')
  // The command is sent in the next turn; then the process blocks for ten timeouts.
  setImmediate(() => standStill(10 * COMMAND_MS_MAX))
  await expect(reply).resolves.toBe('OK')
  redis.disconnect()
})
