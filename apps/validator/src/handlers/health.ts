/** Whether the validator does its work, where its replica stands, and how the scan nodes answer it. */
import type { Reader } from '@quorumscan/consensus'
import { readBuildInfo } from '@quorumscan/http'
import { formatTime } from '@quorumscan/model'
import type { Context } from '../context.ts'
import type { HandlersOf } from './handlers.ts'

const MS_PER_SECOND = 1000

export function healthHandlers(
  context: Context,
  /** The port listened on. */
  port: () => number,
): HandlersOf<'livez' | 'readyz' | 'getStatus' | 'getVersion'> {
  const build = readBuildInfo(import.meta.url)
  const startedMs = context.clock.monotonicMs()
  return {
    livez: async () => ({ body: null }),
    async readyz() {
      context.assertReady()
      return { body: null }
    },
    async getStatus() {
      const state = context.replicaState()
      const head = state === 'starting' ? null : context.ledger.head()
      const uptimeMs = context.clock.monotonicMs() - startedMs
      return {
        body: {
          success: {
            id: 'validator',
            uptime: `PT${Math.floor(uptimeMs / MS_PER_SECOND)}S`,
            ports: { http: port() },
            active: state === 'live',
            extra: {
              state,
              offset: head?.offset ?? null,
              recordTime: head === null ? null : formatTime(head.recordTime),
              reader: readerStatus(context.reader),
            },
          },
        },
      }
    },
    getVersion: async () => ({
      body: { version: build.version, commit_ts: build.commitTime },
    }),
  }
}

/** As the schema types it: its lists are not read-only. */
function readerStatus(reader: Reader) {
  const { nodes, forks, ...counts } = reader.status()
  return {
    ...counts,
    nodes: [...nodes],
    forks: forks.map(({ offset, histories }) => ({
      offset,
      histories: histories.map(({ historyHash, nodes }) => ({ historyHash, nodes: [...nodes] })),
    })),
  }
}
