import { expect, it } from 'vitest'
import { assessCapacity, readSamples } from './assess-capacity.ts'

const DAY = 86_400_000_000
const START = 1_900_000_000_000_000

const EXPOSITION = `# HELP quorumscan_replica_offset Newest applied offset of the log.
# TYPE quorumscan_replica_offset gauge
quorumscan_replica_offset{process="sv-1"} 20000
quorumscan_replica_names{process="sv-1"} 212
quorumscan_replica_names_bytes{process="sv-1"} 318000
quorumscan_replica_entries_total{process="sv-1"} 8000
quorumscan_can_lose{process="sv-1",kind="lookups"} 2
quorumscan_redis_memory_bytes{process="sv-1"} 22097152
quorumscan_redis_memory_max_bytes{process="sv-1"} 0
quorumscan_redis_aof_bytes{process="sv-1"} 40000000
quorumscan_disk_free_bytes{process="sv-1"} 12000000000
process_start_time_seconds{process="sv-1"} ${(START + 8 * DAY) / 1e6}
process_start_time_seconds{process="sv-1.synchronizer"} ${START / 1e6}
quorumscan_ordering_height{process="sv-1.synchronizer"} 100000
quorumscan_ordering_first_height{process="sv-1.synchronizer"} 50001
quorumscan_broken{process="sv-1"} NaN
`

const cometbft = { driver: 'cometbft', validators: [] } as never
const input = {
  samples: readSamples(EXPOSITION),
  name: 'sv-1',
  genesis: { recordTime: START, ordering: cometbft },
  nowMicros: START + 10 * DAY,
  machineBytes: 4_000_000_000,
  engineBytes: 500_000_000,
}

it('computes rates, sizes and limits from the metrics', () => {
  const { growths, ...capacity } = assessCapacity(input)
  expect(capacity).toEqual({
    offset: 20_000,
    names: 212,
    users: null,
    // 8000 entries in two days; the average since the start of the network would be 2000 a day.
    entriesPerDay: 4_000,
    rateSince: START + 8 * DAY,
    offsetAhead: 140_000,
    // 4 MB a day of 3978; the file grows by 8 MB a day, thrice with its rewrite, and blocks by 16.7.
    memory: { bytesMax: 4_000_000_000, days: expect.closeTo(994.5, 1) },
    disk: { bytesFree: 12_000_000_000, days: expect.closeTo(295, 0) },
  })
  expect(growths).toEqual([
    { what: 'memory', bytes: 22_097_152, bytesEach: 1_000, bytesAhead: 142_097_152 },
    // Names of ten days.
    { what: 'names', bytes: 318_000, bytesEach: 1_500, bytesAhead: 1_272_000 },
    { what: 'file', bytes: 40_000_000, bytesEach: 2_000, bytesAhead: 280_000_000 },
    // 10 000 blocks a day; the engine keeps 100 000.
    { what: 'blocks', bytes: 500_000_000, bytesEach: 10_000, bytesAhead: 1_000_000_000 },
  ])
})

it('of a process that just started, counts from the start of the network', () => {
  const samples = readSamples(
    EXPOSITION.replace(`${(START + 8 * DAY) / 1e6}`, `${(START + 10 * DAY) / 1e6 - 60}`),
  )
  const { entriesPerDay, rateSince } = assessCapacity({ ...input, samples })
  expect([entriesPerDay, rateSince]).toEqual([2_000, START])
})

it('knows the limit of Redis, idle networks and synchronizers, and names what is missing', () => {
  const limited = EXPOSITION.replace(
    'max_bytes{process="sv-1"} 0',
    'max_bytes{process="sv-1"} 26097152',
  )
  expect(assessCapacity({ ...input, samples: readSamples(limited) }).memory).toEqual({
    bytesMax: 26_097_152,
    days: 1,
  })
  const idle = EXPOSITION.replace('_total{process="sv-1"} 8000', '_total{process="sv-1"} 0')
  expect(assessCapacity({ ...input, samples: readSamples(idle), engineBytes: 0 })).toMatchObject({
    memory: { days: null },
    disk: { days: null },
  })
  const alone = readSamples(
    EXPOSITION.replaceAll('replica_offset', 'log_offset').replace(
      /^.*(?:replica|ordering)_.*$/gm,
      '',
    ),
  )
  expect(
    assessCapacity({
      ...input,
      samples: alone,
      genesis: { ...input.genesis, ordering: { driver: 'redis', key: '' } } as never,
    }),
  ).toMatchObject({ offset: 20_000, names: null, entriesPerDay: 2_000 })
  // Of a young network, an empty Redis is no size of its entries.
  const young = readSamples(
    EXPOSITION.replace('offset{process="sv-1"} 20000', 'offset{process="sv-1"} 8'),
  )
  expect(assessCapacity({ ...input, samples: young }).growths).toMatchObject([
    { what: 'memory', bytesEach: 1_100 },
    { what: 'names' },
    { what: 'file', bytesEach: 2_800 },
    { what: 'blocks' },
  ])
  const without = readSamples(EXPOSITION.replace(/^.*redis_memory_bytes.*$/m, ''))
  expect(() => assessCapacity({ ...input, samples: without })).toThrow(
    'sv-1 has no metric quorumscan_redis_memory_bytes',
  )
})

it('counts users of a validator, and leaves out what there is none of', () => {
  const validator = readSamples(
    `${EXPOSITION.replace('names{process="sv-1"} 212', 'names{process="sv-1"} 0')}quorumscan_users{process="sv-1"} 3\nquorumscan_users_bytes{process="sv-1"} 1200\n`,
  )
  const { users, growths } = assessCapacity({ ...input, samples: validator })
  expect(users).toBe(3)
  expect(growths.map(({ what }) => what)).toEqual(['memory', 'users', 'file', 'blocks'])
  expect(growths[1]).toEqual({ what: 'users', bytes: 1_200, bytesEach: 400, bytesAhead: 4_800 })
})
