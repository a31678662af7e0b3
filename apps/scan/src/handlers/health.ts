/** Whether the node does its work, and where it stands. Lookups go on while it is not ready (D-10). */
import type { healthRoutes } from '@quorumscan/api'
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { BuildInfo, Handlers } from '@quorumscan/http'
import { formatTime } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'

export function createHealthHandlers(context: {
  readonly replica: Pick<Replica, 'state' | 'head'>
  readonly nodeName: string
  readonly build: BuildInfo
  readonly clock: Clock
  /** The port listened on. */
  readonly port: () => number
}): Handlers<typeof healthRoutes> {
  const { replica, clock } = context
  const startedMs = clock.monotonicMs()
  return {
    livez: async () => ({ body: null }),
    readyz: async () => {
      const state = replica.state()
      if (state === 'live') return { body: null }
      if (state === 'regressed')
        throw new ScanError(
          'LOG_REGRESSED',
          'the log is not the one that this node applied; an operator must look',
        )
      throw new ScanError('NOT_READY', `the node is ${state}`, {
        details: { state },
        retryAfterSeconds: 1,
      })
    },
    getStatus: async () => {
      const state = replica.state()
      const head = replica.head()
      return {
        body: {
          success: {
            id: context.nodeName,
            uptime: `PT${Math.floor((clock.monotonicMs() - startedMs) / 1000)}S`,
            ports: { http: context.port() },
            active: state === 'live',
            extra: {
              state,
              offset: head.offset,
              recordTime: formatTime(head.recordTime),
            },
          },
        },
      }
    },
    getVersion: async () => ({
      body: { version: context.build.version, commit_ts: context.build.commitTime },
    }),
  }
}
