/**
 * Ends streams whose caller may no longer read as when they began (docs/upstream.md §L6.3): the
 * user's rights changed, or the token expired. The user store reports changes, so nothing is polled.
 */
import { type Clock, held, linkedController, membersOf } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { UserId } from '@quorumscan/model'
import type { Users } from '@quorumscan/users'
import type { Caller } from './callers.ts'

/** The longest timer. A token that lives longer needs several. */
const DELAY_MS_MAX = 3_600_000

type Watched = { readonly caller: Caller; readonly end: (reason: LedgerError) => void }

export function createStreamGuard(deps: {
  readonly users: Pick<Users, 'get' | 'onChange'>
  readonly clock: Clock
}) {
  const { users, clock } = deps
  const watchedByUser = held(
    {
      owner: 'ledger-api',
      name: 'streams with rights',
      kind: 'work',
      bound: 'the pool of WebSockets of /v2',
    },
    new Map<UserId, Set<Watched>>(),
    membersOf,
  )

  const endAll = (userId: UserId, message: string, isStale: (caller: Caller) => boolean) => {
    for (const { caller, end } of watchedByUser.get(userId) ?? [])
      if (isStale(caller)) end(new LedgerError('STALE_STREAM_AUTHORIZATION', message))
  }
  const recheck = async (userId: UserId) => {
    if (!watchedByUser.has(userId)) return
    const record = await users.get(userId)
    const rights = JSON.stringify(record?.rights)
    const message = 'The rights of the user have changed since the stream began: open it again.'
    const isDeactivated = record?.user.isDeactivated !== false
    endAll(userId, message, (caller) => isDeactivated || JSON.stringify(caller.rights) !== rights)
  }
  const recheckOrEnd = (userId: UserId): Promise<void> => {
    // A stream whose rights cannot be checked must end.
    const message = 'The rights of the user cannot be read: open the stream again later.'
    return recheck(userId).catch(() => endAll(userId, message, () => true))
  }
  const close = users.onChange((userId) => void recheckOrEnd(userId))

  const expire = async (expiresAt: number, ended: AbortController) => {
    for (;;) {
      const restMs = (expiresAt - clock.nowMicros()) / 1000
      if (restMs <= 0) break
      await clock.delay(Math.min(Math.ceil(restMs), DELAY_MS_MAX), ended.signal)
    }
    const message = 'The token has expired: open the stream again.'
    ended.abort(new LedgerError('ACCESS_TOKEN_EXPIRED', message))
  }

  return {
    /**
     * A signal for one stream of the caller; it aborts with a LedgerError, at once if the rights changed since the caller
     * was authenticated. `until` ends the watch with the stream.
     */
    async watch(caller: Caller, until: AbortSignal): Promise<AbortSignal> {
      const ended = linkedController(until)
      const { signal } = ended
      if (signal.aborted) return signal
      const watched: Watched = { caller, end: (reason) => ended.abort(reason) }
      const ofUser = watchedByUser.get(caller.userId) ?? new Set()
      watchedByUser.set(caller.userId, ofUser.add(watched))
      signal.addEventListener('abort', () => {
        ofUser.delete(watched)
        if (ofUser.size === 0) watchedByUser.delete(caller.userId)
      })
      if (caller.expiresAt !== null) expire(caller.expiresAt, ended).catch(() => {}) // The stream ended.
      // A change after this read is reported.
      await recheckOrEnd(caller.userId)
      return signal
    },
    close,
  }
}
