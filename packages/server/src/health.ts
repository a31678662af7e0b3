/** Health, status and version: what all apps answer alike. */
import { readFileSync, statSync } from 'node:fs'
import type { healthRoutes } from '@quorumscan/api'
import { type Clock, MICROS_PER_MS, packageRoot } from '@quorumscan/base'
import type { Micros, Offset } from '@quorumscan/model'
import {
  CLOCK_HEADER,
  clockOffsetMs,
  DETAIL_HEADER,
  OFFSET_HEADER,
  type PeerClocks,
} from '@quorumscan/runtime'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import type { Handlers } from './handler.ts'

const MS_PER_SECOND = 1000

type Status = Extract<
  Awaited<ReturnType<Handlers<typeof healthRoutes>['getStatus']>>,
  { body: unknown }
>['body']
type Extra = Exclude<Status, Uint8Array>['success']['extra']

export function createHealthHandlers(
  context: {
    readonly name: string
    readonly clock: Clock
    readonly clocks: Pick<PeerClocks, 'verdict'>
  },
  app: {
    /** `import.meta.url` of a module of the app, for its version. */
    readonly moduleUrl: string
    /** The port listened on. */
    readonly port: () => number
    /** @throws {ScanError} Why the process does not do its work. */
    readonly assertReady: () => void | Promise<void>
    /** `live` is active. */
    readonly state: () => string
    /** Of its ledger; null while that is not loaded. */
    readonly head: () => { readonly offset: Offset; readonly recordTime: Micros } | null
    /** What an operator must know beside the state, in ASCII. */
    readonly detail?: () => string | null
    /** Of those who order together; null where one orders alone. */
    readonly ordering?: () => NonNullable<Extra['ordering']> | null
    readonly reader?: () => NonNullable<Extra['reader']>
  },
): Handlers<typeof healthRoutes> {
  const { name, clock, clocks } = context
  const version = readVersion(app.moduleUrl)
  const startedMs = clock.monotonicMs()
  return {
    livez: async () => ({
      body: null,
      headers: { [CLOCK_HEADER]: String(Math.floor(clock.nowMicros())) },
    }),
    async readyz() {
      await app.assertReady()
      const offsetMs = clockOffsetMs(clocks)
      const detail = app.detail?.() ?? null
      return {
        body: null,
        headers: {
          ...(offsetMs !== null && { [OFFSET_HEADER]: String(offsetMs) }),
          ...(detail !== null && { [DETAIL_HEADER]: detail }),
        },
      }
    },
    async getStatus() {
      const state = app.state()
      const head = app.head()
      const ordering = app.ordering?.() ?? null
      const uptimeSeconds = Math.floor((clock.monotonicMs() - startedMs) / MS_PER_SECOND)
      return {
        body: {
          success: {
            id: name,
            uptime: `PT${uptimeSeconds}S`,
            ports: { http: app.port() },
            active: state === 'live',
            extra: {
              state,
              offset: head?.offset ?? null,
              recordTime: head === null ? null : formatTime(head.recordTime),
              clockOffsetMs: clockOffsetMs(clocks),
              ...(app.detail && { detail: app.detail() }),
              ...(ordering && { ordering }),
              ...(app.reader && { reader: app.reader() }),
            },
          },
        },
      }
    },
    getVersion: async () => ({ body: version }),
  }
}

/**
 * What is running. A checkout has no other stamp than that of its files: when the package was laid out.
 *
 * @param moduleUrl - Where the app was bundled, the version is that of the package into which it was bundled.
 */
function readVersion(moduleUrl: string): { readonly version: string; readonly commit_ts: string } {
  const packageFile = new URL('package.json', packageRoot(moduleUrl))
  // Our own package.json.
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  const { mtimeMs } = statSync(packageFile)
  return { version, commit_ts: formatTime(Math.floor(mtimeMs) * MICROS_PER_MS) }
}
