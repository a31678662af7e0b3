/** Whether the synchronizer appends, and where the log stands. */
import type { healthRoutes } from '@quorumscan/api'
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { BuildInfo, Handlers } from '@quorumscan/http'
import type { LogWriter } from '@quorumscan/log'
import { formatTime } from '@quorumscan/model'

const MS_PER_SECOND = 1000

export function createHealthHandlers(context: {
  readonly writer: Pick<LogWriter, 'state' | 'head'>
  readonly build: BuildInfo
  readonly clock: Clock
  /** The port listened on. */
  readonly port: () => number
}): Handlers<typeof healthRoutes> {
  const { writer, clock } = context
  const startedMs = clock.monotonicMs()
  return {
    livez: async () => ({ body: null }),
    readyz: async () => {
      const state = writer.state()
      if (state === 'ready') return { body: null }
      if (state === 'unavailable')
        throw new ScanError('DEPENDENCY_UNAVAILABLE', "the log's Redis is not available", {
          retryAfterSeconds: 1,
        })
      throw new ScanError('NOT_READY', 'the synchronizer is stopping', { details: { state } })
    },
    getStatus: async () => {
      const state = writer.state()
      const { offset, recordTime } = writer.head()
      const uptime = `PT${Math.floor((clock.monotonicMs() - startedMs) / MS_PER_SECOND)}S`
      return {
        body: {
          success: {
            id: 'synchronizer',
            uptime,
            ports: { http: context.port() },
            active: state === 'ready',
            extra: {
              state: state === 'ready' ? 'live' : state,
              offset,
              recordTime: formatTime(recordTime),
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
