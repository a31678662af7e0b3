/** The processes of an operator that runs: what they report about themselves, the log and their engine. */
import { type Clock, readSoftware } from '@quorumscan/base'
import { stateLabel } from '@quorumscan/errors/node-words'
import { KNOWN_RULES } from '@quorumscan/ledger'
import { parseTime } from '@quorumscan/model'
import { ask, FOLLOWING_MICROS_MAX, fetchHealth, type Health } from '@quorumscan/runtime'
import { healthUrlOf, runningIn, type Service } from '@quorumscan/supervisor'
import { blockQuorumOf, type Genesis } from '@quorumscan/verifier'
import type { OperatorConfig } from '../run/operator-config.ts'
import { type Check, failed, ok, warning, warningIn } from './check.ts'

const MICROS_PER_SECOND = 1_000_000
const ANSWER_MS_MAX = 3_000
/** Where the seconds of a time end. */
const SECONDS_END = '2030-01-31T12:00:00'.length
const LABEL = { scan: 'scan node', synchronizer: 'synchronizer', validator: 'validator' }
const ASK_ABSENT = 'Ask the operators of those that are absent'
const ONLY_THIS_LAGS =
  'Only this operator lags: check its connection to the log, its disk and its clock'
const LOG_STALLS = 'The log may stall for all: check the synchronizer, or how many members are up'
const NOT_ADMITTED =
  'Send its member file to the operators of the super-validators: none admits its engine, or none can be reached (docs/operations.md, "Adding a validator")'
const READ_OUTPUT = 'The output of `run` has the reason (with systemd: journalctl)'

/** A service, what it reports, and the version that it runs; null: it does not answer. */
export type Observed = {
  readonly service: Service
  readonly pid: number | null
  readonly health: Health | null
  readonly version: string | null
}

/** Asks the processes. @param recordFile - Of the processes that `run` started. */
export async function observe(
  services: readonly Service[],
  recordFile: string,
): Promise<readonly Observed[]> {
  const pidById = new Map(runningIn(recordFile).map(({ id, pid }) => [id, pid]))
  return Promise.all(
    services.map(async (service) => {
      const url = healthUrlOf(service)
      const [health, answer] = await Promise.all([
        fetchHealth(url),
        ask(`${url}/version`, { timeoutMs: ANSWER_MS_MAX }),
      ])
      const { version = null } = Object(answer.body)
      return { service, pid: pidById.get(service.app.id) ?? null, health, version }
    }),
  )
}

/** The processes, the log and the blocks. One reason of several faults is the advice of each. */
export function checkObserved(
  observed: readonly Observed[],
  { genesis, name }: Pick<OperatorConfig, 'genesis' | 'name'>,
  signedOffset: number | null,
  clock: Clock,
): readonly Check[] {
  const app = observed.at(-1)
  const isCutOff = observed.some(({ health }) => health?.ordering?.connected.length === 0)
  const isMember = genesis.nodes.some((node) => node.name === name)
  const notAdmitted = isCutOff && !isMember ? NOT_ADMITTED : null
  const log = app ? checkLogHeight(app, signedOffset, clock, notAdmitted) : null
  const reason = notAdmitted ?? (log?.advice === LOG_STALLS ? LOG_STALLS : null)
  return [
    ...observed.map((one) => checkProcess(one, reason)),
    log,
    ...observed.map((one) => checkBlocks(one, genesis, name)),
  ].flatMap((check) => check ?? [])
}

/** @param reason - Advice against that for which the process waits; null if it only needs time. */
export function checkProcess({ service, pid, health }: Observed, reason: string | null): Check {
  const name = LABEL[service.kind]
  if (pid === null) return failed(name, 'it does not run', READ_OUTPUT)
  if (health === null) return failed(name, `process ${pid} does not answer`, READ_OUTPUT)
  const { state, detail, code, isStalled } = health
  const words = `${stateLabel[state]} (process ${pid})`
  if (state === 'up' && detail === null) return ok(name, words)
  const found = `${words}: ${detail?.replace(/\.$/, '')}`
  if (isStalled)
    return failed(name, found, `It does not continue by itself: sdk/ERRORS.md describes ${code}`)
  // A synchronizer is up while it waits for the others.
  return state === 'up' && (reason === null || service.kind !== 'synchronizer')
    ? warningIn(name, found, READ_OUTPUT)
    : warning(name, found, reason ?? 'Wait until it has caught up')
}

/** How far it has followed the log. @param others - The newest offset that enough other nodes signed. */
export function checkLogHeight(
  { health }: Observed,
  others: number | null,
  clock: Clock,
  notAdmitted: string | null = null,
): Check | null {
  const { offset = null, recordTime = null } = health ?? {}
  const time = parseTime(recordTime ?? '')
  if (offset === null || recordTime === null || time === undefined) return null
  const signed = others === null ? '' : `; nodes signed ${others}`
  const detail = `offset ${offset} of ${recordTime.slice(0, SECONDS_END)}Z${signed}`
  const ageMicros = clock.nowMicros() - time
  if (ageMicros <= FOLLOWING_MICROS_MAX) return ok('log', detail)
  const seconds = Math.round(ageMicros / MICROS_PER_SECOND)
  const isBehind = others !== null && others > offset
  return failed(
    'log',
    `${detail}. Nothing came for ${seconds} s; an idle log has an entry at least every 10 s`,
    notAdmitted ?? (isBehind ? ONLY_THIS_LAGS : LOG_STALLS),
  )
}

/** Who votes on blocks. @param own - The name of this operator, which may be a member. */
export function checkBlocks({ health }: Observed, { nodes }: Genesis, own: string): Check | null {
  if (health?.ordering == null) return null
  const { height, connected, absent } = health.ordering
  const cutOff = nodes.map(({ name }) => name).filter((name) => ![own, ...connected].includes(name))
  const missing = [
    ...(absent.length > 0 ? [`without the votes of ${absent.join(', ')}`] : []),
    ...(cutOff.length > 0 ? [`not connected: ${cutOff.join(', ')}`] : []),
  ]
  if (missing.length === 0) return ok('blocks', `block ${height}, all vote`)
  const detail = [`block ${height}`, ...missing].join('; ')
  const canLose = nodes.length - blockQuorumOf(nodes.length)
  // A validator has no vote, and follows with one connection.
  const isMember = nodes.some(({ name }) => name === own)
  return absent.length > canLose || (isMember && cutOff.length > canLose)
    ? failed('blocks', `${detail}. Too few are left to order`, ASK_ABSENT)
    : warning('blocks', detail, ASK_ABSENT)
}

export function checkVersions(observed: readonly Observed[]): Check {
  const { version: installed } = readSoftware()
  const old = observed.flatMap(({ service, version }) =>
    version === null || version === installed
      ? []
      : [`${LABEL[service.kind]} runs ${version}, and ${installed} is installed`],
  )
  if (old.length > 0) return warning('version', old.join('; '), 'Restart to run what is installed')
  const protocols = KNOWN_RULES.map(({ version }) => version).join(', ')
  const versions = new Set(observed.flatMap(({ version }) => version ?? []))
  return ok('version', `${[...versions].join(', ') || 'not known'}; protocol versions ${protocols}`)
}
