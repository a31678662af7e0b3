/** What the reports of an operator's processes mean. */
import type { Health } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { formatInstant, type Genesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { failed, ok, warning } from './check.ts'
import {
  blameNobody,
  causedByDisk,
  checkBlocks,
  checkLogHeight,
  checkMembers,
  checkMemory,
  checkObserved,
  checkProcess,
  newestSignedOf,
  type Observed,
} from './processes.ts'

const clock = createManualClock()
const service = { kind: 'scan', url: 'http://127.0.0.1:4611' } as Observed['service']
const upHealth: NonNullable<Observed['health']> = {
  state: 'up',
  detail: null,
  code: null,
  isWaitingForRebuildTurn: false,
  isStalled: false,
  offset: 10,
  recordTime: formatInstant(clock.nowMicros()),
  ordering: null,
  members: null,
}
const ALONE = { reason: null, runs: 'sv' } as const
const observed = (changes: Partial<Observed['health']>, pid: number | null = 5): Observed => ({
  service,
  pid,
  health: { ...upHealth, ...changes },
  version: '0.1.0',
  memory: null,
})

it.each([
  ['up', observed({}), 'ok', 'up (process 5)'],
  ['gone', observed({}, null), 'failed', 'it does not run'],
  [
    'silent',
    { ...observed({}), health: null },
    'failed',
    'process 5 does not answer at http://127.0.0.1:4611; `run` ends and restarts one that hangs for a minute',
  ],
  [
    'up, with a detail',
    observed({ detail: 'the log is full.' }),
    'warning',
    'up (process 5): the log is full',
  ],
  [
    'catching up',
    observed({ state: 'catching-up', detail: 'The replica is catching up.' }),
    'warning',
    'catching up (process 5): The replica is catching up',
  ],
  [
    'stalled',
    observed({ state: 'catching-up', detail: 'x', code: 'LOG_REGRESSED', isStalled: true }),
    'failed',
    'not ready (process 5): x',
  ],
] as const)('a process that is %s', (_, one, state, detail) => {
  expect(checkProcess(one, ALONE)).toMatchObject({ name: 'scan node', state, detail })
})

it('a warning of a process that is up has an advice: its last sentence, if there are several', () => {
  const several = 'sv-2 has a private address. Lookups fail. Set QS_ALLOW_PRIVATE_ADDRESSES=1.'
  expect(checkProcess(observed({ detail: several }), ALONE)).toMatchObject({
    detail: 'up (process 5): sv-2 has a private address. Lookups fail',
    advice: 'Set QS_ALLOW_PRIVATE_ADDRESSES=1',
  })
  expect(checkProcess(observed({ detail: 'its clock is late' }), ALONE)).toMatchObject({
    detail: 'up (process 5): its clock is late',
    advice: expect.stringContaining('`journalctl -u quorumscan@sv -n 100`'),
  })
})

it('a log without a new entry for half a minute is a failure', () => {
  expect(checkLogHeight(observed({}), 9, clock)).toMatchObject({
    state: 'ok',
    detail: `offset 10 of ${formatInstant(clock.nowMicros()).slice(0, 19)}Z; nodes signed 9`,
  })
  const recordTime = formatInstant(clock.nowMicros() - 40_000_000)
  const old = observed({ recordTime })
  expect(checkLogHeight(old, 12, clock)).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('Nothing came for 40 s'),
    advice: expect.stringContaining('Only this operator lags'),
  })
  expect(checkLogHeight(old, 10, clock)).toMatchObject({
    advice: expect.stringContaining('stall for all'),
  })
  expect(checkLogHeight({ ...old, health: null }, 10, clock)).toBeNull()
})

const names = ['sv-1', 'sv-2', 'sv-3', 'sv-4']
const genesis = { nodes: names.map((name) => ({ name })) } as unknown as Genesis

it.each([
  [[], ['sv-2', 'sv-3', 'sv-4'], 'ok', 'block 7, all vote'],
  [['sv-4'], ['sv-2', 'sv-3', 'sv-4'], 'warning', 'block 7; without the votes of sv-4'],
  [['sv-4'], ['sv-2', 'sv-3'], 'warning', 'without the votes of sv-4; not connected: sv-4'],
  [[], ['sv-2'], 'failed', 'not connected: sv-3, sv-4. Too few are left to order'],
] as const)(
  'votes on blocks without %j, connected to %j: %s',
  (absent, connected, state, detail) => {
    const ordering = { height: 7, round: 0, connected: [...connected], absent: [...absent] }
    expect(checkBlocks(observed({ ordering }), genesis, 'sv-1')).toMatchObject({
      state,
      detail: expect.stringContaining(detail),
    })
  },
)

it('a validator has no vote, and should be connected to all members', () => {
  const ordering = { height: 7, round: 0, connected: names, absent: [] }
  expect(checkBlocks(observed({ ordering }), genesis, 'v')).toMatchObject({ state: 'ok' })
  const cutOff = { ...ordering, connected: ['sv-1'] }
  expect(checkBlocks(observed({ ordering: cutOff }), genesis, 'v')).toMatchObject({
    state: 'warning',
    detail: 'block 7; not connected: sv-2, sv-3, sv-4',
  })
  expect(checkBlocks(observed({}), genesis, 'v')).toBeNull()
})

/** A synchronizer and the process that follows it, while nothing comes. */
const waiting = (connected: string[]): Observed[] => {
  const recordTime = formatInstant(clock.nowMicros() - 40_000_000)
  const behind = { state: 'catching-up', detail: 'It catches up.', recordTime } as const
  const ordering = { height: 7, round: 0, connected, absent: [] }
  const engine = observed({ detail: 'nothing is ordered', ordering })
  const synchronizer = { ...engine, service: { kind: 'synchronizer' } as Observed['service'] }
  return [synchronizer, observed(behind)]
}
const faultsOf = (connected: string[], name: string, signedOffset: number) => {
  const config = { genesis, name, runs: name === 'v' ? 'validator' : 'sv' } as const
  const { own, others } = checkObserved(waiting(connected), config, signedOffset, clock)
  return [...own, ...others].flatMap((check) =>
    check.state === 'ok' ? [] : [[check.name, check.advice]],
  )
}

it('a validator that no member admits must send its member file', () => {
  const advice = expect.stringContaining('Send its member file to the operators')
  expect(faultsOf([], 'v', 20)).toEqual([
    ['synchronizer', advice],
    ['scan node', advice],
    ['log', advice],
    ['blocks', expect.stringContaining('Ask the operators of those that are absent')],
  ])
  expect(faultsOf(['sv-1'], 'v', 20)).not.toContainEqual(['log', advice])
  expect(faultsOf([], 'sv-1', 20)).not.toContainEqual(['log', advice])
})

it('a process that is up keeps its own advice while the log stalls', () => {
  const detail = 'sv-2 is not asked. Set QS_ALLOW_PRIVATE_ADDRESSES=1.'
  const advice = 'Set QS_ALLOW_PRIVATE_ADDRESSES=1'
  expect(
    checkProcess(observed({ detail }), { ...ALONE, reason: 'Wait for the others' }),
  ).toMatchObject({ advice })
})

it('no process is to catch up while the log stalls for all', () => {
  const stalls = expect.stringContaining('The log may stall for all')
  const [synchronizer, app, log] = faultsOf(['sv-2', 'sv-3'], 'sv-1', 10)
  expect([synchronizer, app, log]).toEqual([
    ['synchronizer', stalls],
    ['scan node', stalls],
    ['log', stalls],
  ])
  expect(faultsOf(['sv-2', 'sv-3'], 'sv-1', 20)).toContainEqual([
    'scan node',
    'Wait until it has caught up',
  ])
})

const votes = warning('votes', 'sv-2 is absent', 'Ask its operator')

it('nobody else is blamed while a part of this machine does not work', () => {
  const redis = failed('Redis', 'process 7 does not answer', 'Read the output')
  const [blamed] = blameNobody([votes], [redis, ok('scan node', 'up')])
  expect(blamed).toMatchObject({
    name: 'votes',
    state: 'warning',
    detail: 'sv-2 is absent',
    advice: expect.stringContaining('First repair Redis of this machine'),
  })
  const log = failed('log', 'nothing came', 'Ask others')
  expect(blameNobody([log], [redis])).toMatchObject([{ state: 'warning' }])
  expect(blameNobody([ok('blocks', 'all vote')], [redis])).toMatchObject([{ state: 'ok' }])
  expect(blameNobody([votes], [ok('Redis', 'process 7')])).toEqual([votes])
})

it('what failed on a full disk has one advice', () => {
  const halted = failed('synchronizer', 'it has stopped', 'It does not continue by itself')
  const full = failed('disk', '0 MiB are free', 'Make room')
  const [repaired] = causedByDisk([halted], full, 'sv')
  expect(repaired?.advice).toMatch(/^Make room first .* `systemctl restart quorumscan@sv`/)
  expect(causedByDisk([halted], ok('disk', '9 GiB'), 'sv')).toEqual([halted])
  expect(causedByDisk([votes], full, 'sv')).toEqual([votes])
})

it('a diverged node is told the command that rebuilds it', () => {
  const diverged = observed({ code: 'STATE_DIVERGED', detail: 'x', isStalled: true })
  expect(checkProcess(diverged, ALONE)).toMatchObject({
    state: 'failed',
    advice: expect.stringContaining('`quorumscan replica wipe --config FILE`'),
  })
})

it('the check of a node with an expired certificate advises to renew it', () => {
  const expired = observed({ code: 'CERTIFICATE_EXPIRED', detail: 'x', isStalled: true })
  expect(checkProcess(expired, ALONE)).toMatchObject({
    state: 'failed',
    advice: expect.stringContaining('Renew it and replace the file'),
  })
})

/** Judgements of sv-1 to sv-4. */
const judged = (...healths: NonNullable<Health['members']>[number]['health'][]) =>
  healths.map((health, index) => ({
    name: `sv-${index + 1}`,
    health,
    signedOffset: 10 - index,
    unsignedSeconds: 0,
  }))

it.each([
  [judged('healthy', 'healthy', 'healthy', 'healthy'), 'ok', '4 of 4 are healthy'],
  [
    judged('healthy', 'healthy', 'healthy', 'unsigned'),
    'warning',
    '3 of 4 are healthy; sv-4 signs none of the states that f + 1 others sign',
  ],
  [
    judged('healthy', 'healthy', 'silent', 'behind'),
    'failed',
    '2 of 4 are healthy; sv-3 does not answer; sv-4 lacks the newest entries, or answers no lookups. Too few are left to confirm registrations',
  ],
  [judged('healthy', 'silent', 'silent', 'silent'), 'failed', 'Too few are left to answer lookups'],
] as const)('members judged as %j', (members, state, detail) => {
  const check = checkMembers(members, { own: 'sv-1', others: [] })
  expect(check).toMatchObject({ name: 'members', state, detail: expect.stringContaining(detail) })
  expect(newestSignedOf(members)).toBe(10)
})

it('an operator is not sent to itself', () => {
  const adviceAt = (own: string, members: ReturnType<typeof judged>) =>
    checkMembers(members, { own, others: [] }).advice
  const alone = judged('healthy', 'healthy', 'healthy', 'behind')
  expect(adviceAt('sv-1', alone)).toContain('Ask the operator of sv-4 for')
  expect(adviceAt('sv-4', alone)).toBe('sv-4 is this one: see what is not ok in the other lines')
  const two = judged('healthy', 'healthy', 'silent', 'behind')
  expect(adviceAt('sv-4', two)).toContain('Ask the operator of sv-3 for')
})

it('no member is blamed while the log stalls, and none is healthy', () => {
  const all = judged('behind', 'behind', 'behind', 'behind')
  const log = failed('log', 'nothing came', 'Ask others')
  expect(checkMembers(all, { own: 'sv-1', others: [log] })).toMatchObject({
    state: 'warning',
    advice: expect.stringContaining('See log'),
  })
  const going = { own: 'sv-1', others: [ok('log', 'offset 10')] }
  expect(checkMembers(all, going)).toMatchObject({ state: 'failed' })
})

it.each([
  [50, 12.4, 'ok', 'Redis uses 50 % of 100 MiB, 12 days are left at the present rate'],
  [85, null, 'warning', 'Redis uses 85 % of 100 MiB'],
  [
    90,
    0,
    'warning',
    'Redis uses 90 % of 100 MiB, 0.0 days are left at the present rate; the log refuses entries that add',
  ],
] as const)(
  'memory that is full to %i %% with %s days left: %s',
  (mib, daysLeft, state, detail) => {
    const memory = { usedBytes: mib * 2 ** 20, maxBytes: 100 * 2 ** 20, daysLeft }
    expect(checkMemory([observed({}), { ...observed({}), memory }])).toMatchObject([
      { name: 'memory', state, detail },
    ])
    expect(checkMemory([observed({})])).toEqual([])
  },
)
