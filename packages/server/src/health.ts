/** Health, status and version: what all apps answer alike. */
import type { healthRoutes } from '@quorumscan/api'
import type { Clock } from '@quorumscan/base'
import type { Micros, Offset } from '@quorumscan/model'
import {
  CLOCK_HEADER,
  clockOffsetMs,
  DETAIL_HEADER,
  OFFSET_HEADER,
  type PeerClocks,
  readBuildInfo,
} from '@quorumscan/runtime'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import type { Handlers } from './handler.ts'

const MS_PER_SECOND = 1000

type Status = Extract<
  Awaited<ReturnType<Handlers<typeof healthRoutes>['getStatus']>>,
  { body: unknown }
>['body']
type Extra = Exclude<Status, Uint8Array>['success']['extra']

export function createHealthHandlers(app: {
  readonly name: string
  /** `import.meta.url` of a module of the app, for its version. */
  readonly moduleUrl: string
  readonly clock: Clock
  readonly clocks: Pick<PeerClocks, 'verdict'>
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
}): Handlers<typeof healthRoutes> {
  const { clock, clocks } = app
  const build = readBuildInfo(app.moduleUrl)
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
            id: app.name,
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
    getVersion: async () => ({ body: { version: build.version, commit_ts: build.commitTime } }),
  }
}
