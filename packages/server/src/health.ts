/** Health, status and version of all apps. */
import type { healthRoutes, ResponseOf } from '@quorumscan/api'
import { type Clock, MICROS_PER_MS, readSoftware } from '@quorumscan/base'
import type { Micros, Offset } from '@quorumscan/model'
import {
  CLOCK_HEADER,
  CLOCK_SKEW_HEADER,
  clockSkewMs,
  DETAIL_HEADER,
  type PeerClocks,
  STATE_HEADER,
} from '@quorumscan/runtime'
import { formatInstant } from '@quorumscan/verifier'
import type { Handlers } from './handler.ts'

const MS_PER_SECOND = 1000

type Extra = ResponseOf<(typeof healthRoutes)['getStatus']>['success']['extra']

export function createHealthHandlers(
  context: {
    readonly name: string
    readonly clock: Clock
    readonly clocks: Pick<PeerClocks, 'verdict'>
  },
  app: {
    /** The port listened on. */
    readonly port: () => number
    /** @throws {ScanError} If the process does not do its work. */
    readonly assertReady: () => void | Promise<void>
    /** `live` is active. */
    readonly state: () => string
    /** The head of its ledger; null before it is loaded. */
    readonly head: () => { readonly offset: Offset; readonly recordTime: Micros } | null
    /** What an operator must know in addition to the state, in ASCII. */
    readonly detail?: () => string | null
    /** The ordering members; null where one synchronizer orders alone. */
    readonly ordering?: () => NonNullable<Extra['ordering']> | null
    /** The members of the network, as the process judges them. */
    readonly members?: () => NonNullable<Extra['members']>
    readonly reader?: () => NonNullable<Extra['reader']>
  },
): Handlers<typeof healthRoutes> {
  const { name, clock, clocks } = context
  const version = readVersion()
  const startedMs = clock.monotonicMs()
  return {
    async livez() {
      const now = String(Math.floor(clock.nowMicros()))
      const headers = { [CLOCK_HEADER]: now, [STATE_HEADER]: app.state() }
      return { body: null, headers }
    },
    async readyz() {
      await app.assertReady()
      const skewMs = clockSkewMs(clocks)
      const detail = app.detail?.() ?? null
      const headers = {
        ...(skewMs !== null && { [CLOCK_SKEW_HEADER]: String(skewMs) }),
        ...(detail !== null && { [DETAIL_HEADER]: detail }),
      }
      return { body: null, headers }
    },
    async getStatus() {
      const state = app.state()
      const head = app.head()
      const ordering = app.ordering?.() ?? null
      const uptimeSeconds = Math.floor((clock.monotonicMs() - startedMs) / MS_PER_SECOND)
      const extra = {
        state,
        offset: head?.offset ?? null,
        recordTime: head === null ? null : formatInstant(head.recordTime),
        clockOffsetMs: clockSkewMs(clocks),
        ...(app.detail && { detail: app.detail() }),
        ...(ordering && { ordering }),
        ...(app.members && { members: app.members() }),
        ...(app.reader && { reader: app.reader() }),
      }
      const uptime = `PT${uptimeSeconds}S`
      const ports = { http: app.port() }
      return { body: { success: { id: name, uptime, ports, active: state === 'live', extra } } }
    },
    getVersion: async () => ({ body: version }),
  }
}

/** The version of the software. Its time is that of its `package.json`. */
function readVersion() {
  const { version, modifiedMs } = readSoftware()
  return { version, commit_ts: formatInstant(Math.floor(modifiedMs) * MICROS_PER_MS) }
}
