/** What a reader shows of its nodes: counters, never a verdict that would exclude one (D-43). */
import { type Link, whyUnusable } from './link.ts'
import type { NodeStatus } from './reader-options.ts'

export function nodeStatus(link: Link, nowMs: number): NodeStatus {
  const why = whyUnusable(link, 'lookup', nowMs)
  const state = why === 'silent' ? 'silent' : why !== null ? 'failing' : 'live'
  return {
    name: link.name,
    url: link.url,
    sequence: link.sequence,
    state: link.latencyMs === null && why === null ? 'unknown' : state,
    head: link.head,
    requests: link.requestCount,
    errors: link.errorCount,
    lastError: link.lastError,
    votes: link.voteCount,
    dissents: link.dissentCount,
    latencyMs: link.latencyMs,
    latencyMsLast: link.latencyMsLast,
  }
}
