/** Updates, commands, and what follows activities. `createValidator` loads them with the first of their calls. */
import type { LiveActivities } from './activities/activities.ts'
import { createActivityHints } from './activities/activity-hints.ts'
import type { Http } from './http/http.ts'
import { retryPauseMs } from './http/stream.ts'
import { createCommands } from './ledger/commands.ts'
import { createUpdates } from './ledger/updates.ts'
import { platformRandom } from './platform/random.ts'
import type { CheckedOptions, ValidatorOptions } from './validator-options.ts'

export function createLedgerParts(options: CheckedOptions & { readonly http: Http }) {
  const { url, ledgerUrl, clock, http, random = platformRandom } = options
  const { WebSocket: ofPlatform = null } = globalThis as Pick<ValidatorOptions, 'WebSocket'>
  const { WebSocket = ofPlatform } = options
  const live: LiveActivities | null = WebSocket && {
    hints: createActivityHints({ WebSocket, url, clock }),
    pauseMs: (failures) => retryPauseMs(failures, random),
  }
  return {
    live,
    updates: createUpdates({ http, clock, random, url: ledgerUrl, WebSocket }),
    commands: createCommands({ http, clock, url: ledgerUrl }),
  }
}
