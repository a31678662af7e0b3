/** The connection to the validator's own Redis, opened only where it keeps what it acknowledges. */
import { createConnection, openChecked, reaching } from '@quorumscan/redis'
import type { Redis } from 'ioredis'

/** A local Redis with `appendfsync always` answers within milliseconds; more means that it hangs. */
const COMMAND_TIMEOUT_MS = 5_000
const RECONNECT = { stepMs: 50, msMax: 1_000 }

/** Settings without which an acknowledged write could be lost (Rule 3). */
const REQUIRED_SETTINGS = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
} as const

/**
 * Connects and checks the settings.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached, or could lose or evict what it
 *   acknowledged; the message names the setting.
 */
export function openConnection(path: string): Promise<Redis> {
  const redis = createConnection({
    path,
    lazyConnect: true,
    // A write that was sent and not answered may have happened: its caller is told so, and decides.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    reconnect: RECONNECT,
  })
  return openChecked(redis, {
    required: REQUIRED_SETTINGS,
    what: 'The Redis of the user store',
    reach,
  })
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if the command failed: a write may or may not have happened. */
export const reach = reaching('The user store cannot be reached.')
