/** The processes of an operator that runs: what they report about themselves, the log and their engine. */
import { type Clock, readSoftware } from '@quorumscan/base'
import { healthLabel, stateLabel } from '@quorumscan/errors/node-words'
import { KNOWN_RULES } from '@quorumscan/ledger'
import { parseTime } from '@quorumscan/model'
import { FULL_SHARE, WARNING_SHARE } from '@quorumscan/redis'
import {
  ask,
  describeMemory,
  FOLLOWING_MICROS_MAX,
  fetchHealth,
  type Health,
  type MemberReport,
  type MemoryUse,
} from '@quorumscan/runtime'
import { healthUrlOf, runningIn, type Service } from '@quorumscan/supervisor'
import { type Genesis, maxFaulty, memberOf, memberSetOf, quorumOf } from '@quorumscan/verifier'
import { z } from 'zod'
import type { OperatorConfig } from '../run/operator-config.ts'
import { RENEW_CERTIFICATE } from './certificates.ts'
import { type Check, failed, ok, warning, warningIn } from './check.ts'

const MICROS_PER_SECOND = 1_000_000
/** A process under full load answers late, and is no failure. `run` ends one that hangs. */
const ANSWER_MS_MAX = 10_000
/** Where the seconds of a time end. */
const SECONDS_END = '2030-01-31T12:00:00'.length
const MEMORY =
  'Give it more memory: raise QS_REDIS_MEMORY_MIB, and restart `run` (docs/operations.md, "Full memory")'
const LABEL = { scan: 'scan node', synchronizer: 'synchronizer', validator: 'validator' }
const ASK_ABSENT =
  'Ask the operators of those that are absent for the output of `quorumscan status`'
const ONLY_THIS_LAGS =
  'Only this operator lags: `quorumscan run … --check` examines its connection to the log, its disk and its clock'
const LOG_STALLS =
  'The log may stall for all: `quorumscan check` shows which nodes sign. Ask the operator of the synchronizer, or those of members that are down'
const NOT_ADMITTED =
  'Send its member file to the operators of the super-validators: none admits its engine, or none can be reached (docs/operations.md, "Adding a validator")'

/** What the operator does against a refusal that does not end by itself, where a sentence says it. */
const REMEDIES: Readonly<Record<string, string>> = {
  STATE_DIVERGED:
    'It does not continue by itself: stop `run`, type `quorumscan replica wipe --config FILE`, and start `run`',
  CERTIFICATE_EXPIRED: RENEW_CERTIFICATE,
}

/** Where a process says what is wrong. */
export function readOutput(runs: OperatorConfig['runs']): string {
  return `Read the last lines of \`run\`: \`journalctl -u quorumscan@${runs} -n 100\` with systemd, else its output`
}

/** Which processes do not work, of those that `run` has on this machine: checks of others mean nothing then. */
function areDown(checks: readonly Check[]): boolean {
  return checks.some(({ state }) => state === 'failed')
}

/** What failed on a full disk needs room first, and may then continue by itself: one advice, not two. */
export function causedByDisk(
  checks: readonly Check[],
  disk: Check | undefined,
  runs: OperatorConfig['runs'],
): readonly Check[] {
  if (disk === undefined || disk.state === 'ok') return checks
  const advice = `Make room first (see disk). If it does not work a minute later, \`systemctl restart quorumscan@${runs}\` with systemd, else start \`run\` again`
  return checks.map((check) => (check.state === 'failed' ? { ...check, advice } : check))
}

/** Checks that depend on other machines, as far as this machine allows a judgement. @param own - Of its own parts. */
export function blameNobody(checks: readonly Check[], own: readonly Check[]): readonly Check[] {
  if (!areDown(own)) return checks
  const names = own.filter(({ state }) => state === 'failed').map(({ name }) => name)
  return checks.map((check) =>
    check.state === 'ok'
      ? check
      : warning(
          check.name,
          check.detail,
          `First repair ${names.join(', ')} of this machine: until then this says nothing about others`,
        ),
  )
}

/** A service, what it reports, and the version that it runs; null: it does not answer. */
export type Observed = {
  readonly service: Service
  readonly pid: number | null
  readonly health: Health | null
  readonly version: string | null
  /** Of its Redis; null: it reports none. */
  readonly memory: (MemoryUse & { readonly daysLeft: number | null }) | null
}

/** A process may be of another release: a value of another form counts as not reported. */
const reportedMemory = z
  .object({
    success: z.object({
      extra: z.object({
        memory: z.object({
          usedBytes: z.number(),
          maxBytes: z.number().positive(),
          daysLeft: z.number().nullable(),
        }),
      }),
    }),
  })
  .transform(({ success }) => success.extra.memory)
  .nullable()
  .catch(null)

/** How full the memory of its Redis is, and when the log refuses entries; none where no process reports it. */
export function checkMemory(observed: readonly Observed[]): readonly Check[] {
  const memory = observed.find((one) => one.memory !== null)?.memory ?? null
  if (memory === null) return []
  const { usedBytes, maxBytes, daysLeft } = memory
  const used = `Redis uses ${describeMemory(memory, daysLeft)}`
  if (usedBytes < WARNING_SHARE * maxBytes) return [ok('memory', used)]
  const isFull = usedBytes >= FULL_SHARE * maxBytes
  const full = isFull ? '; the log refuses entries that add' : ''
  return [warning('memory', used + full, MEMORY)]
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
      const [health, answer, status] = await Promise.all([
        fetchHealth(url, ANSWER_MS_MAX),
        ask(`${url}/version`, { timeoutMs: ANSWER_MS_MAX }),
        ask(`${url}/status`, { timeoutMs: ANSWER_MS_MAX }),
      ])
      const reported = memberOf(answer.body, 'version')
      const version = typeof reported === 'string' ? reported : null
      const memory = reportedMemory.parse(status.body)
      return { service, pid: pidById.get(service.app.id) ?? null, health, version, memory }
    }),
  )
}

/**
 * The processes (`own`), and the log and the blocks, which also depend on others. One reason of several faults is the
 * advice of each.
 */
export function checkObserved(
  observed: readonly Observed[],
  { genesis, name, runs }: Pick<OperatorConfig, 'genesis' | 'name' | 'runs'>,
  signedOffset: number | null,
  clock: Clock,
): { readonly own: readonly Check[]; readonly others: readonly Check[] } {
  const app = observed.at(-1)
  const isCutOff = observed.some(({ health }) => health?.ordering?.connected.length === 0)
  const isMember = memberSetOf(genesis).members.some((node) => node.name === name)
  const notAdmitted = isCutOff && !isMember ? NOT_ADMITTED : null
  const log = app ? checkLogHeight(app, signedOffset, clock, notAdmitted) : null
  const reason = notAdmitted ?? (log?.advice === LOG_STALLS ? LOG_STALLS : null)
  const own = observed.map((one) => checkProcess(one, { reason, runs }))
  const others = [log, ...observed.map((one) => checkBlocks(one, genesis, name))]
  return { own, others: others.flatMap((check) => check ?? []) }
}

/** @param reason - Advice against that for which the process waits; null if it only needs time. */
export function checkProcess(
  { service, pid, health }: Observed,
  { reason, runs }: { readonly reason: string | null; readonly runs: OperatorConfig['runs'] },
): Check {
  const name = LABEL[service.kind]
  const advice = readOutput(runs)
  if (pid === null) return failed(name, 'it does not run', advice)
  if (health === null)
    return failed(
      name,
      `process ${pid} does not answer at ${healthUrlOf(service)}; \`run\` ends and restarts one that hangs for a minute`,
      advice,
    )
  const { state, detail, code, isStalled } = health
  const words = `${isStalled ? 'not ready' : stateLabel[state]} (process ${pid})`
  if (state === 'up' && detail === null) return ok(name, words)
  const found = `${words}: ${detail?.replace(/\.$/, '')}`
  if (isStalled)
    return failed(
      name,
      found,
      REMEDIES[String(code)] ?? `It does not continue by itself: sdk/ERRORS.md describes ${code}`,
    )
  // A synchronizer is up while it waits for the others.
  return state === 'up' && (reason === null || service.kind !== 'synchronizer')
    ? warningIn(name, found, advice)
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
export function checkBlocks({ health }: Observed, genesis: Genesis, own: string): Check | null {
  const { members, n, blockQuorum } = memberSetOf(genesis)
  if (health?.ordering == null) return null
  const { height, connected, absent } = health.ordering
  const cutOff = members
    .map(({ name }) => name)
    .filter((name) => ![own, ...connected].includes(name))
  const missing = [
    ...(absent.length > 0 ? [`without the votes of ${absent.join(', ')}`] : []),
    ...(cutOff.length > 0 ? [`not connected: ${cutOff.join(', ')}`] : []),
  ]
  if (missing.length === 0) return ok('blocks', `block ${height}, all vote`)
  const detail = [`block ${height}`, ...missing].join('; ')
  const canLose = n - blockQuorum
  // A validator has no vote, and follows with one connection.
  const isMember = members.some(({ name }) => name === own)
  return absent.length > canLose || (isMember && cutOff.length > canLose)
    ? failed('blocks', `${detail}. Too few are left to order`, ASK_ABSENT)
    : warning('blocks', detail, ASK_ABSENT)
}

/** The newest offset that f + 1 members signed, as a process judges them; null: none since it started. */
export function newestSignedOf(members: readonly MemberReport[]): number | null {
  const offsets = members.flatMap(({ signedOffset }) => signedOffset ?? [])
  return offsets.length === 0 ? null : Math.max(...offsets)
}

/**
 * The super-validators, as the process of this operator judges them (D-87), and what that stops.
 *
 * @param own - The name of this operator, which has no other operator to ask about itself.
 * @param others - The other checks: while the log stalls, no member signs, and none is to blame.
 */
export function checkMembers(
  members: readonly MemberReport[],
  { own, others }: { readonly own: string; readonly others: readonly Check[] },
): Check {
  const n = members.length
  const missing = members.filter(({ health }) => health !== 'healthy')
  const count = n - missing.length
  const words = missing.map(({ name, health }) => `${name} ${healthLabel[health]}`)
  const detail = [`${count} of ${n} are healthy`, ...words].join('; ')
  if (missing.length === 0) return ok('members', detail)
  const doesLogStall = others.some(({ name, state }) => name === 'log' && state === 'failed')
  if (count === 0 && doesLogStall) return warning('members', detail, 'See log: no member signs now')
  const names = missing.map(({ name }) => name).filter((name) => name !== own)
  const advice =
    names.length === 0
      ? `${own} is this one: see what is not ok in the other lines`
      : `Ask the operator of ${names.join(', ')} for the output of \`quorumscan status\``
  if (count <= maxFaulty(n))
    return failed('members', `${detail}. Too few are left to answer lookups`, advice)
  return count < quorumOf(n)
    ? failed('members', `${detail}. Too few are left to confirm registrations`, advice)
    : warning('members', detail, advice)
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
