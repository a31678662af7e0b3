/** What a reader shows of its nodes: counters, never a verdict that would exclude one (D-43). */

import type { NodeStatus } from '../reader/reader-options.ts'
import { isSilent, type Link, whyUnusable } from './link.ts'

export function nodeStatus(link: Link, nowMs: number): NodeStatus {
  const { name, url, sequence, head, counters } = link
  return { name, url, sequence, state: stateOf(link, nowMs), head, ...counters }
}

function stateOf(link: Link, nowMs: number): NodeStatus['state'] {
  if (whyUnusable(link, 'lookup') !== null) return 'failing'
  if (isSilent(link.lanes.lookup, nowMs)) return 'silent'
  return link.counters.latencyMs === null ? 'unknown' : 'live'
}
