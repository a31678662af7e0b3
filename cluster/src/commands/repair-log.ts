/** `log repair` of a cluster, by its control plane, which is started for it unless it already runs. */
import { dirname, join } from 'node:path'
import {
  capitalized,
  namesOf,
  offsets,
  type RepairOptions,
  readClusterGenesis,
  reportRepair,
  whatForked,
  whyNotStored,
} from '@quorumscan/cli'
import type { RepairRefusal } from '@quorumscan/log'
import type { DataDirectory } from '@quorumscan/operator'
import { call, connectControl } from '../control/client.ts'
import { readControlFile } from '../control/control-file.ts'
import { controlOptions } from '../control/control-options.ts'
import { holdControlPlane } from '../control/launch.ts'
import { VALIDATOR } from '../rig/cluster-shape.ts'

/** Enough to read, write and verify the largest log of one machine; longer than the time limits of that work. */
const CALL_TIMEOUT_MS = 660_000

/** Repairs the log of the cluster in the data directory. A stopped cluster stays stopped. */
export async function repairLogOf(directory: DataDirectory, options: RepairOptions) {
  const { isCutAllowed, redisServer, clock } = options
  readClusterGenesis(directory)
  const isRunning = readControlFile(directory) !== null
  const idle = controlOptions({ dataDir: directory.path, redisServer, isIdle: true })
  await using _ = isRunning ? null : await holdControlPlane(idle, clock)
  const { cluster } = connectControl(directory, { timeoutMs: CALL_TIMEOUT_MS })
  const outcome = await call(cluster.repairLog.mutate({ isCutAllowed }))
  return reportRepair(outcome, {
    reasonOf: ({ refusal, logDirectory }) => reasonOf(refusal, { logDirectory, isRunning }),
    notApplied: 'No node that answered has applied',
    cut: `${isRunning ? '`quorumscan down`, then ' : ''}\`quorumscan log repair --cut\``,
    next: isRunning ? [] : ['`quorumscan up` starts the cluster.'],
  })
}

/** Why the log was not repaired, and what to do next. */
export function reasonOf(
  refusal: RepairRefusal,
  { logDirectory, isRunning }: { readonly logDirectory: string; readonly isRunning: boolean },
): string {
  const directoryOf = (name: string) => join(dirname(logDirectory), name)
  const stopThen = (work: string) => (isRunning ? `stop the cluster, ${work}` : work)
  const restore = `${capitalized(stopThen(`restore an undamaged copy of ${logDirectory}`))}. Do not wipe a replica before that.`
  switch (refusal.kind) {
    case 'too-few': {
      const [first = ''] = refusal.silent
      return (
        `${namesOf(refusal.silent)} ${refusal.silent.length === 1 ? 'does' : 'do'} not answer, and ` +
        `${refusal.needed} nodes must. Start them, and try again; \`quorumscan logs ${first}.redis\` shows more. ` +
        `If its files are damaged, move ${directoryOf(first)} away: the node then answers without data.`
      )
    }
    case 'another-log':
      return (
        `${namesOf(refusal.nodes)} followed another log than the one in ${logDirectory}. ` +
        `${capitalized(stopThen('restore the right directory'))}. If it is lost, move this one away, and try ` +
        'again: the log is then rebuilt if the nodes keep all of it.'
      )
    case 'not-stored':
      return `${offsets(refusal)} cannot be refilled: ${whyNotStored(refusal, 'node')}. ${restore}`
    case 'applied': {
      const { by, needed } = refusal
      const away = stopThen(`move ${namesOf(by.map(directoryOf))} away, and try again`)
      const giveUp = by.includes(VALIDATOR)
        ? "Do not move the validator's directory away: it also holds its users, which no node has."
        : `Or give them up: ${away}.`
      return (
        `only ${namesOf(by)} applied ${offsets(refusal)}, and ${needed} nodes must have them to refill them. ` +
        `${restore} ${giveUp}`
      )
    }
    case 'forked':
      return (
        `${whatForked(refusal)} Keep everything: it is evidence. Decide which history holds; then ` +
        `${stopThen(`move the directories of the nodes with another one out of ${dirname(logDirectory)}`)}, and try again.`
      )
    case 'unknown-heads': {
      const [first = ''] = refusal.silent
      return (
        `the end of the log could be cut off, but how much of it ${namesOf(refusal.silent)} applied is unknown, ` +
        `because its Redis does not answer. Start it, and try again; \`quorumscan logs ${first}.redis\` shows more.`
      )
    }
  }
}
