/** What of a cluster runs without a control plane that answers, and what can be done about it. */

import type { DataDirectory } from '@quorumscan/operator'
import { runningRecorded } from '@quorumscan/supervisor'

/** The end of a sentence about a control plane that died or hangs. Asks nobody. */
export function describeRemains(directory: DataDirectory): string {
  const ids = runningRecorded(directory.processes.recordFile)
  if (ids.length === 0) return 'nothing of its cluster runs'
  const count =
    ids.length === 1
      ? 'one process of its cluster runs'
      : `${ids.length} processes of its cluster run`
  return `${count} on: ${ids.join(', ')}`
}
