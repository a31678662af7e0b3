import type { Random } from '@quorumscan/base'

/** A Redis that restarts is back within a second; one that is gone is asked at least every two seconds. */
const RECONNECT_MS_MIN = 50
const RECONNECT_MS_MAX = 2000

/** Doubling with equal jitter (half fixed, half random), so that nodes do not come back in step. */
export function reconnectDelayMs(failures: number, random: Random): number {
  const ceiling = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** (failures - 1))
  return ceiling / 2 + (ceiling / 2) * random.fraction()
}
