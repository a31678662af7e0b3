/** What a reader shows of its nodes: counters, never a verdict that would exclude one (D-43). */
import { type Link, whyUnusable } from './link.ts'
import type { NodeStatus } from './reader-options.ts'

export function nodeStatus(link: Link, nowMs: number): NodeStatus {
  const why = whyUnusable(link, 'lookup', nowMs)
  const state = why === 'silent' ? 'silent' : why !== null ? 'failing' : 'live'
  const { name, url, sequence, head, counters } = link
  const isUnknown = counters.latencyMs === null && why === null
  return { name, url, sequence, state: isUnknown ? 'unknown' : state, head, ...counters }
}
