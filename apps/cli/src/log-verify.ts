/** `log verify`: whether every entry of a log is still the one that was signed. */

import {
  DAMAGE_ADVICE,
  describeDamage,
  LOG_USER,
  LogUnavailableError,
  verifyLog,
} from '@quorumscan/log'
import { type DataDirectory, REPAIR_OF_MEMBERS } from '@quorumscan/operator'
import { logGenesisOf } from '@quorumscan/operator/ceremony'
import { type OperatorLogOptions, openOperatorLog } from '@quorumscan/operator/log'
import type { RedisAddress } from '@quorumscan/redis'
import { CommandError, readSecret } from '@quorumscan/runtime'
import { existingSocketDirectory, redisSocketOf } from '@quorumscan/supervisor'
import { formatInstant, type Genesis } from '@quorumscan/verifier'
import type { LogReport } from './rig.ts'
import { readClusterGenesis } from './verify.ts'

/**
 * Reads the log of the cluster in the data directory from its start to its end.
 *
 * @throws {CommandError} If the log's Redis does not run, or goes away: then nothing was verified.
 */
export async function verifyLogOf(directory: DataDirectory): Promise<LogReport> {
  const genesis = readClusterGenesis(directory)
  if (genesis.ordering.driver === 'cometbft') throw new CommandError(REPAIR_OF_MEMBERS)
  const sockets = existingSocketDirectory(directory)
  if (sockets === null)
    throw new CommandError(
      `no cluster runs in ${directory.path}: start it with \`quorumscan up\`, ` +
        "because it needs the log's Redis; `quorumscan log repair` needs no running cluster",
    )
  const redis = {
    path: redisSocketOf(sockets, 'synchronizer'),
    username: LOG_USER,
    password: readSecret(directory.secretFile('log-writer')),
  }
  const advice =
    '`quorumscan restart synchronizer redis` starts it again, ' +
    'and `quorumscan logs synchronizer.redis` shows why it does not start. Only if it reports damaged files: `quorumscan log repair` repairs them'
  return await verified({ redis, genesis }, advice)
}

/** Reads the log of an operator, and starts its Redis for that where none runs. @throws {CommandError} As above. */
export async function verifyOperatorLog(options: OperatorLogOptions): Promise<LogReport> {
  await using own = await openOperatorLog(options)
  const log = { redis: own.redis, genesis: options.config.genesis }
  return await verified(log, 'check that Redis, and try again')
}

/** @param advice - For a Redis that goes away. */
async function verified(
  { redis, genesis }: { readonly redis: RedisAddress; readonly genesis: Genesis },
  advice: string,
): Promise<LogReport> {
  const { signal } = new AbortController()
  const log = { redis, genesis: logGenesisOf(genesis), signal }
  const { start, end, recordTime, damages } = await verifyLog(log).catch((error: unknown) => {
    if (!(error instanceof LogUnavailableError)) throw error
    throw new CommandError(`${error.message}; ${advice}`, { cause: error })
  })
  const isWhole = damages.length === 0
  const json = { whole: isWhole, start, end, recordTime: formatInstant(recordTime), damages }
  if (!isWhole)
    return { isWhole, text: [...damages.map(describeDamage), DAMAGE_ADVICE].join('\n'), json }
  const from =
    start === 1 ? 'its start' : `offset ${start}, where snapshots of the state let it begin,`
  const text = `The log is whole, from ${from} to offset ${end} of ${json.recordTime}.`
  return { isWhole, text, json }
}
