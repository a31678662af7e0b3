/** What a member needs at its present rate, computed from the metrics of its processes. Pure. */
import type { Genesis } from '@quorumscan/verifier'
import { EVIDENCE_AGE } from '@quorumscan/verifier'

const DAY_MICROS = 86_400_000_000
/** `capacity` looks so far ahead. */
export const AHEAD_DAYS = 30
/** In less time, the rate of a process that caught up at its start says little. */
const RATE_MICROS_MIN = 3_600_000_000
/** Redis rewrites its file when it has doubled, and needs the space of the new one meanwhile. */
const FILE_FACTOR = 3
/** Of an empty Redis and the connections of the processes. */
const EMPTY_REDIS_BYTES = 2 * 2 ** 20
/** With fewer entries, what a Redis has anyway is most of it: then what was measured counts (docs/operations.md). */
const ENTRIES_MIN = 1_000
const MEASURED = { memory: 1_100, file: 2_800 }

/** The values of a text exposition, by the process of each sample. Labels but `process` make no difference. */
export function readSamples(exposition: string): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const byProcess = new Map<string, Map<string, number>>()
  for (const line of exposition.split('\n')) {
    const [, name, labels = '', text] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    const value = Number(text)
    if (name === undefined || !Number.isFinite(value)) continue
    const [, process = ''] = /(?:^|,)process="([^"]*)"/.exec(labels) ?? []
    const samples = byProcess.get(process) ?? new Map<string, number>()
    byProcess.set(process, samples.set(name, value))
  }
  return byProcess
}

/** One thing that grows. */
export type Growth = {
  /** `names` and `users` are parts of `memory`. */
  readonly what: 'memory' | 'names' | 'users' | 'file' | 'blocks'
  readonly bytes: number
  /** For each entry of the log, name, user, or block. */
  readonly bytesEach: number
  /** In `AHEAD_DAYS` at the present rate, at most. */
  readonly bytesAhead: number
}

export type Capacity = {
  readonly offset: number
  /** Null: the process has no replica. */
  readonly names: number | null
  /** Null: the process is no validator. */
  readonly users: number | null
  readonly entriesPerDay: number
  /** Since when the rate is counted, µs: the start of the process, or that of the network. */
  readonly rateSince: number
  readonly offsetAhead: number
  readonly growths: readonly Growth[]
  /** Days until memory, and until the disk, are used up at this rate; null: not within a hundred years. */
  readonly memory: { readonly bytesMax: number; readonly days: number | null }
  readonly disk: { readonly bytesFree: number; readonly days: number | null }
}

export type CapacityInput = {
  readonly samples: ReturnType<typeof readSamples>
  /** The operator: its process has this name, its synchronizer `name.synchronizer`. */
  readonly name: string
  readonly genesis: Pick<Genesis, 'recordTime' | 'ordering'>
  readonly nowMicros: number
  /** Of the machine, where Redis has no limit. */
  readonly machineBytes: number
  /** Of the files of the engine; 0: there is none. */
  readonly engineBytes: number
}

/** @throws {RangeError} Which names a metric that is missing. */
export function assessCapacity(input: CapacityInput): Capacity {
  const { samples, name, genesis, nowMicros, machineBytes, engineBytes } = input
  const metric = (metricName: string, fallback?: number): number => {
    const process = samples.get(name)?.has(metricName) ? name : `${name}.synchronizer`
    const value = samples.get(process)?.get(metricName) ?? fallback
    if (value !== undefined) return value
    throw new RangeError(`${name} has no metric ${metricName}`)
  }
  const quorumscan = (one: string, fallback?: number) => metric(`quorumscan_${one}`, fallback)
  const offset = quorumscan('replica_offset', samples.get(name)?.get('quorumscan_log_offset'))
  const startedMicros = metric('process_start_time_seconds') * 1_000_000
  const applied = samples.get(name)?.get('quorumscan_replica_entries_total')
  const isRecent = applied !== undefined && nowMicros - startedMicros >= RATE_MICROS_MIN
  const rateSince = isRecent ? startedMicros : genesis.recordTime
  const days = Math.max(nowMicros - rateSince, 1) / DAY_MICROS
  const entriesPerDay = (isRecent ? applied : offset) / days
  const entriesAhead = entriesPerDay * AHEAD_DAYS
  const perEntry = (what: keyof typeof MEASURED, bytes: number): Growth => {
    const ofEntries = Math.max(bytes - (what === 'memory' ? EMPTY_REDIS_BYTES : 0), 0)
    const bytesEach = offset < ENTRIES_MIN ? MEASURED[what] : ofEntries / offset
    return { what, bytes, bytesEach, bytesAhead: bytes + bytesEach * entriesAhead }
  }
  const memory = perEntry('memory', quorumscan('redis_memory_bytes'))
  const file = perEntry('file', quorumscan('redis_aof_bytes'))
  const blocks = blocksOf(input, quorumscan)
  const memoryMax = quorumscan('redis_memory_max_bytes') || machineBytes
  const own = (metricName: string) => samples.get(name)?.get(`quorumscan_${metricName}`) ?? null
  const [names, users] = [own('replica_names'), own('users')]
  const networkDays = Math.max(nowMicros - genesis.recordTime, 1) / DAY_MICROS
  const part = (what: 'names' | 'users', count: number | null, bytes: number | null): Growth[] =>
    count === null || bytes === null || count === 0
      ? []
      : [
          {
            what,
            bytes,
            bytesEach: bytes / count,
            bytesAhead: bytes * (1 + AHEAD_DAYS / networkDays),
          },
        ]
  const bytesFree = quorumscan('disk_free_bytes', Number.POSITIVE_INFINITY)
  const growthOf = ({ bytesEach }: Growth) => bytesEach * entriesPerDay
  const diskPerDay =
    growthOf(file) * FILE_FACTOR +
    (blocks === null ? 0 : (blocks.bytesAhead - engineBytes) / AHEAD_DAYS)
  return {
    offset,
    names,
    users,
    entriesPerDay,
    rateSince,
    offsetAhead: offset + entriesAhead,
    growths: [
      memory,
      ...part('names', names, own('replica_names_bytes')),
      ...part('users', users, own('users_bytes')),
      file,
      ...(blocks === null ? [] : [blocks]),
    ],
    memory: { bytesMax: memoryMax, days: daysUntil(memoryMax - memory.bytes, growthOf(memory)) },
    disk: { bytesFree, days: daysUntil(bytesFree, diskPerDay) },
  }
}

/** An engine keeps the blocks of `evidenceAge`: then its files grow no more. */
function blocksOf(
  { genesis, engineBytes, nowMicros }: CapacityInput,
  metric: (name: string, fallback?: number) => number,
): Growth | null {
  const { ordering, recordTime } = genesis
  if (ordering.driver !== 'cometbft' || engineBytes === 0) return null
  const height = metric('ordering_height')
  const stored = Math.max(height - metric('ordering_first_height') + 1, 1)
  const perDay = height / (Math.max(nowMicros - recordTime, 1) / DAY_MICROS)
  const age = ordering.evidenceAge ?? EVIDENCE_AGE
  const kept = Math.max(age.blocks, (perDay * age.micros) / DAY_MICROS)
  const bytesEach = engineBytes / stored
  const ahead = Math.max(Math.min(stored + perDay * AHEAD_DAYS, kept), stored)
  return { what: 'blocks', bytes: engineBytes, bytesEach, bytesAhead: bytesEach * ahead }
}

const DAYS_MAX = 36_500

function daysUntil(bytesLeft: number, bytesPerDay: number): number | null {
  const days = Math.max(bytesLeft, 0) / bytesPerDay
  return days <= DAYS_MAX ? days : null
}
