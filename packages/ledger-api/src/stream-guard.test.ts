/** A stream ends when the rights of its caller change (§L6.3). */
import type { UserId } from '@quorumscan/model'
import { createManualClock } from '@quorumscan/testkit'
import type { UserRecord } from '@quorumscan/users'
import { expect, it } from 'vitest'
import { createStreamGuard } from './stream-guard.ts'

const rights = [{ kind: 'CanReadAsAnyParty' as const }]
const alice: UserRecord = {
  user: {
    id: 'alice',
    primaryParty: null,
    isDeactivated: false,
    metadata: {},
    identityProviderId: '',
  },
  rights,
}

function start() {
  const clock = createManualClock()
  let record: UserRecord | null | Error = alice
  let report: (userId: UserId) => void = () => {}
  const guard = createStreamGuard({
    clock,
    users: {
      get: async () => {
        if (record instanceof Error) throw record
        return record
      },
      onChange: (listener) => {
        report = listener
        return () => {}
      },
    },
  })
  const until = new AbortController()
  return {
    clock,
    until,
    watch: (expiresAt: number | null = null, userId = 'alice') =>
      guard.watch({ userId, rights, expiresAt }, until.signal),
    async change(next: typeof record, userId = 'alice') {
      record = next
      report(userId)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

const codeOf = (signal: AbortSignal) => (signal.aborted ? signal.reason.code : 'open')

it.each([
  ['rights were added', { ...alice, rights: [...rights, { kind: 'ParticipantAdmin' as const }] }],
  ['rights were taken', { ...alice, rights: [] }],
  ['the user was deactivated', { ...alice, user: { ...alice.user, isDeactivated: true } }],
  ['the user was deleted', null],
  ['the rights cannot be read', new Error('Redis is away')],
])('a stream ends when %s', async (_, next) => {
  const { watch, change } = start()
  const signal = await watch()
  await change(next)
  expect(codeOf(signal)).toBe('STALE_STREAM_AUTHORIZATION')
})

it('a stream does not begin if the rights changed after its caller was authenticated', async () => {
  const { watch, change } = start()
  // Nothing watches yet.
  await change({ ...alice, rights: [] })
  expect(codeOf(await watch())).toBe('STALE_STREAM_AUTHORIZATION')
})

it('a stream stays open when another property changes, or another user', async () => {
  const { watch, change } = start()
  const signal = await watch()
  await change({ ...alice, user: { ...alice.user, metadata: { colour: 'blue' } } })
  await change(null, 'bob')
  expect(codeOf(signal)).toBe('open')
})

it('a stream ends when its token expires, even after days', async () => {
  const { clock, watch } = start()
  const days = 3 * 86_400_000
  const ending = await watch(clock.nowMicros() + days * 1000)
  const endless = await watch(null)
  await clock.advance(days - 1)
  expect(codeOf(ending)).toBe('open')
  await clock.advance(1)
  expect(codeOf(ending)).toBe('ACCESS_TOKEN_EXPIRED')
  expect(codeOf(endless)).toBe('open')
})

it('the rights are no longer watched after the stream has ended', async () => {
  const { clock, until, watch, change } = start()
  const signal = await watch(clock.nowMicros() + 1_000_000)
  until.abort(new Error('the client left'))
  await change(null)
  await clock.advance(2_000)
  expect(signal.reason.message).toBe('the client left')
})
