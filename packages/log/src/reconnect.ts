import { backoffMs, type Random } from '@quorumscan/base'

/** A Redis that restarts is up within a second. One that stays down is tried at least every two seconds. */
const BOUNDS = { minMs: 50, maxMs: 2000 }

export function reconnectDelayMs(failures: number, random: Random): number {
  return backoffMs(failures, { ...BOUNDS, random: () => random.fraction() })
}
