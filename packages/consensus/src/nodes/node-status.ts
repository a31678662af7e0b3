/** What a reader shows of its nodes: counters, never a verdict that would exclude one (D-43). */

import type { NodeStatus } from '../reader/reader-options.ts'
import { type Lane, type Link, whyUnusable } from './link.ts'

export function nodeStatus(link: Link, isSilent: (lane: Lane) => boolean): NodeStatus {
  const { name, url, sequence, head, counters } = link
  return { name, url, sequence, state: stateOf(link, isSilent), head, ...counters }
}

function stateOf(link: Link, isSilent: (lane: Lane) => boolean): NodeStatus['state'] {
  if (whyUnusable(link, 'lookup') !== null) return 'failing'
  if (isSilent(link.lanes.lookup)) return 'silent'
  return link.counters.latencyMs === null ? 'unknown' : 'live'
}
