/** Health, status and version of all apps. */
import { healthRoutes, type ResponseOf } from '@quorumscan/api'
import { type Clock, MICROS_PER_MS, readSoftware } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import type { Micros, Offset } from '@quorumscan/model'
import {
  CLOCK_HEADER,
  CLOCK_SKEW_HEADER,
  clockSkewMs,
  DETAIL_HEADER,
  MEMORY_HEADER,
  type Metrics,
  type OwnCertificates,
  type PeerClocks,
  type RedisMemory,
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
    readonly certificates: OwnCertificates
    /** Absent: the server measures nothing. */
    readonly metrics?: Metrics
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
    /** Of its Redis. */
    readonly memory?: Pick<RedisMemory, 'share' | 'report' | 'detail'>
  },
): Handlers<typeof healthRoutes> {
  const { name, clock, clocks, certificates, metrics } = context
  const version = readVersion()
  const startedMs = clock.monotonicMs()
  const detailOf = (): string | null => {
    const details = [app.detail?.(), app.memory?.detail(), certificates.detail()]
    return details.filter((one) => one != null).join('; ') || null
  }
  const stateOf = (): string => {
    const state = app.state()
    return state === 'live' && !certificates.areValid() ? 'certificate-expired' : state
  }
  const assertReady = async (): Promise<void> => {
    await app.assertReady()
    certificates.assertValid()
  }
  metrics?.sampled('gauge', {
    name: 'not_ready',
    help: '1 for the code with which /readyz refuses now, 0 for all others.',
    labels: ['code'],
    async read() {
      const code = await assertReady().then(() => null, codeOf)
      return healthRoutes.readyz.errors.map((one) => [[one], one === code ? 1 : 0] as const)
    },
  })
  return {
    async livez() {
      const now = String(Math.floor(clock.nowMicros()))
      const share = app.memory?.share() ?? null
      const headers = {
        [CLOCK_HEADER]: now,
        [STATE_HEADER]: stateOf(),
        ...(share !== null && { [MEMORY_HEADER]: String(Math.floor(1000 * share)) }),
      }
      return { body: null, headers }
    },
    async readyz() {
      await assertReady()
      const skewMs = clockSkewMs(clocks)
      const detail = detailOf()
      const headers = {
        ...(skewMs !== null && { [CLOCK_SKEW_HEADER]: String(skewMs) }),
        ...(detail !== null && { [DETAIL_HEADER]: detail }),
      }
      return { body: null, headers }
    },
    async getStatus() {
      const state = stateOf()
      const head = app.head()
      const ordering = app.ordering?.() ?? null
      const uptimeSeconds = Math.floor((clock.monotonicMs() - startedMs) / MS_PER_SECOND)
      const extra = {
        state,
        offset: head?.offset ?? null,
        recordTime: head === null ? null : formatInstant(head.recordTime),
        clockOffsetMs: clockSkewMs(clocks),
        detail: detailOf(),
        ...(ordering && { ordering }),
        ...(app.members && { members: app.members() }),
        ...(app.reader && { reader: app.reader() }),
        ...(app.memory && { memory: app.memory.report() }),
      }
      const uptime = `PT${uptimeSeconds}S`
      const ports = { http: app.port() }
      return { body: { success: { id: name, uptime, ports, active: state === 'live', extra } } }
    },
    getVersion: async () => ({ body: version }),
  }
}

/** @throws The error, if it is a bug. */
function codeOf(error: unknown): string {
  if (isScanError(error)) return error.code
  throw error
}

/** The version of the software. Its time is that of its `package.json`. */
function readVersion() {
  const { version, modifiedMs } = readSoftware()
  return { version, commit_ts: formatInstant(Math.floor(modifiedMs) * MICROS_PER_MS) }
}
