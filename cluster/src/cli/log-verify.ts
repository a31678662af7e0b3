/** `log verify`: whether every entry of a cluster's log still is what was signed. */
import { readFileSync } from 'node:fs'
import {
  DAMAGE_ADVICE,
  describeDamage,
  LOG_USER,
  type LogDamage,
  LogUnavailableError,
  verifyLog,
} from '@quorumscan/log'
import { formatTime } from '@quorumscan/model'
import { ClusterError } from '../cluster-error.ts'
import type { DataDirectory } from '../data-directory.ts'
import { logGenesisOf } from '../genesis.ts'
import { REPAIR_OF_MEMBERS } from '../log-repair.ts'
import { keptSocketDirectory, redisSocketOf } from '../socket-directory.ts'
import { readGenesis } from './verify.ts'

/**
 * Reads the log of the cluster in the data directory from its start to its end.
 *
 * @throws {ClusterError} If the log's Redis does not run, or goes away: then nothing was judged.
 */
export async function verifyLogOf(directory: DataDirectory): Promise<{
  readonly isWhole: boolean
  readonly text: string
  readonly json: unknown
}> {
  const genesis = readGenesis(directory.genesisFile)
  if (genesis.ordering.driver === 'cometbft') throw new ClusterError(REPAIR_OF_MEMBERS)
  const sockets = keptSocketDirectory(directory)
  if (sockets === null)
    throw new ClusterError(
      `no cluster runs in ${directory.path}: start it with \`quorumscan up\`, ` +
        "because the log can be read while the log's Redis runs; `quorumscan log repair` needs no running cluster",
    )
  const { start, end, recordTime, damages } = await verifyLog({
    redis: {
      path: redisSocketOf(sockets, 'synchronizer'),
      username: LOG_USER,
      password: readFileSync(directory.secretFile('log-writer'), 'utf8'),
    },
    genesis: logGenesisOf(genesis),
    signal: new AbortController().signal,
  }).catch((error: unknown) => {
    if (!(error instanceof LogUnavailableError)) throw error
    throw new ClusterError(
      `${error.message}; \`quorumscan restart synchronizer redis\` starts it again, ` +
        'and if it does not start, `quorumscan log repair` mends its files',
      { cause: error },
    )
  })
  const isWhole = damages.length === 0
  const json = { whole: isWhole, start, end, recordTime: formatTime(recordTime), damages }
  return { isWhole, text: isWhole ? describeWhole(json) : describeAll(damages), json }
}

function describeWhole(log: { start: number; end: number; recordTime: string }): string {
  const { start, end, recordTime } = log
  const from =
    start === 1 ? 'its start' : `offset ${start}, where snapshots of the state let it begin,`
  return `The log is whole, from ${from} to offset ${end} of ${recordTime}.`
}

function describeAll(damages: readonly LogDamage[]): string {
  return [...damages.map(describeDamage), DAMAGE_ADVICE].join('\n')
}
