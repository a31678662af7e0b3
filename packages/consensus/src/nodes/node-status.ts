/** What a reader shows of its nodes: counters, never a verdict that would exclude one (D-43). */

import type { NodeStatus } from '../reader/reader-options.ts'
import { type Link, whyUnusable } from './link.ts'

export function nodeStatus(link: Link, nowMs: number): NodeStatus {
  const { name, url, sequence, head, counters } = link
  const why = whyUnusable(link, 'lookup', nowMs)
  const known = counters.latencyMs === null ? 'unknown' : 'live'
  const unusable = why === 'silent' ? 'silent' : 'failing'
  return { name, url, sequence, state: why === null ? known : unusable, head, ...counters }
}
