/** Damage of a data directory by a disk, a copy or a lost file is detected, reported, contained and repaired. */
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyPairFromSeed, sha256, toHex } from '@quorumscan/base'
import { signGroup } from '@quorumscan/log'
import { send, untilTrue } from '@quorumscan/testkit'
import { hashGenesis, parseGenesis } from '@quorumscan/verifier'
import type { RunningCluster } from 'quorumscan/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { clock, createUser, lookup, untilFound } from './client.ts'
import { runCommand } from './command.ts'
import { controlPid } from './control-pid.ts'
import { append, damage, logFileOf, newestOf } from './log-file.ts'

const NAME = 'alice.unverified.ns'
const MONTH_MICROS = 30 * 86_400_000_000

let cluster: RunningCluster
beforeAll(async () => {
  cluster = await startCluster({ nodes: 4 })
  const alice = await createUser(cluster, 'alice')
  await alice.pay(NAME)
  await untilFound(cluster, NAME)
})
afterAll(() => cluster?.down())

const appendOnlyFiles = (node: string) => join(cluster.dataDir, 'redis', node, 'appendonlydir')

async function register(user: string) {
  return await send(`${cluster.urls.validator}/v0/register`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await cluster.token(user)}`,
      'content-type': 'application/json',
    },
    body: '{}',
  })
}

it('commands on a copy of the data directory do not affect the cluster of the original', async () => {
  const copy = `${cluster.dataDir}-copy`
  cpSync(cluster.dataDir, copy, { recursive: true })
  try {
    const pid = controlPid(cluster)
    const down = await runCommand({ ...cluster, dataDir: copy }, 'down')
    expect(down.text).toContain('no cluster runs')
    const up = await runCommand({ ...cluster, dataDir: copy }, 'up', '--detach')
    expect([up.code, up.text]).toEqual([1, expect.stringContaining('is in use by another program')])
    expect(controlPid(cluster)).toBe(pid)
    expect((await lookup(cluster, NAME)).headers.get('x-quorum-outcome')).toBe('verified')
    expect((await cluster.status()).nodes.every(({ state }) => state === 'up')).toBe(true)
  } finally {
    rmSync(copy, { recursive: true })
  }
})

it('the control plane rewrites a truncated control.json, and the cluster continues to run', async () => {
  const pid = controlPid(cluster)
  writeFileSync(join(cluster.dataDir, 'control.json'), '{"owner":"')
  await untilTrue(
    'commands to find the control plane',
    async () => (await runCommand(cluster, 'status')).code === 0,
  )
  expect(controlPid(cluster)).toBe(pid)
})

it('`up` refuses another base port while the cluster runs', async () => {
  const { code, text } = await runCommand(cluster, 'up', '--base-port', '7777')
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(/uses\s+the\s+ports\s+from\s+[0-9]+\s+on/),
  ])
})

it('`up` starts all other processes, and status names a broken node and lost users', async () => {
  await runCommand(cluster, 'down')
  for (const file of readdirSync(appendOnlyFiles('sv-2')))
    if (!file.endsWith('.manifest'))
      writeFileSync(join(appendOnlyFiles('sv-2'), file), 'no such file')
  rmSync(appendOnlyFiles('validator'), { recursive: true })

  const { code, text } = await runCommand(cluster, 'up', '--detach')
  expect(code, text).toBe(0)
  expect(text).toContain('quorumscan runs, but some processes are not up')
  // Health is polled: right after `up` the validator may still count as starting.
  await untilTrue('status to report both problems', async () => {
    const { text } = await runCommand(cluster, 'status')
    return (
      /sv-2: its Redis exited/.test(text) &&
      /validator: The Redis of the validator has lost its users/.test(text)
    )
  })
  expect((await lookup(cluster, NAME)).headers.get('x-quorum-outcome')).toBe('verified')

  const refused = await register('alice')
  expect([refused.status, refused.body.code, refused.body.definite]).toEqual([
    503,
    'USERS_LOST',
    true,
  ])
})

it('`wipe` restores the broken node', async () => {
  const wiped = await runCommand(cluster, 'wipe', 'sv-2')
  expect(wiped.text).toContain('sv-2 was wiped and is up')
})

it('`log verify` and status report a flipped byte in an old log entry, and the cluster runs', async () => {
  const whole = await runCommand(cluster, 'log', 'verify')
  expect([whole.code, whole.text]).toEqual([0, expect.stringMatching(/^The log is whole/)])
  await runCommand(cluster, 'down')
  const stopped = await runCommand(cluster, 'log', 'verify')
  expect([stopped.code, stopped.text]).toEqual([
    1,
    expect.stringContaining('`quorumscan up --data-dir '),
  ])
  for (const file of readdirSync(appendOnlyFiles('synchronizer'))) {
    const bytes = readFileSync(join(appendOnlyFiles('synchronizer'), file))
    const at = bytes.indexOf('entry of alice')
    if (at >= 0) bytes[at] = (bytes[at] ?? 0) ^ 0xff
    writeFileSync(join(appendOnlyFiles('synchronizer'), file), bytes)
  }
  const { code, text } = await runCommand(cluster, 'up', '--detach', '--accept-lost-users')
  expect(code, text).toBe(0)
  const verdict = await runCommand(cluster, 'log', 'verify', '--json')
  expect([verdict.code, JSON.parse(verdict.stdout)]).toMatchObject([
    1,
    { whole: false, damages: [{ fault: 'signature' }] },
  ])
  await untilTrue('status to report the damage', async () =>
    (await runCommand(cluster, 'status')).text.includes('synchronizer: The log is damaged at'),
  )
  const { synchronizer } = await cluster.status()
  expect(synchronizer.state).toBe('up')
  expect((await lookup(cluster, NAME)).headers.get('x-quorum-outcome')).toBe('verified')
  const proven = await runCommand(cluster, 'resolve', NAME)
  expect([proven.code, proven.text]).toEqual([0, expect.stringContaining(': verified\n')])
})

it('`--accept-lost-users` lets users register again, with their earlier parties', async () => {
  const { status, body } = await register('alice')
  const owner = (await lookup(cluster, NAME)).body.entry.user
  expect(status).toBe(200)
  expect(body.party_id).toBe(owner)
})

it('`log repair` changes nothing while too few nodes answer', async () => {
  await cluster.kill('sv-2', { part: 'redis' })
  await cluster.kill('sv-3', { part: 'redis' })
  const { code, text } = await runCommand(cluster, 'log', 'repair')
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(/^Nothing was changed: sv-2 and sv-3 do not answer, and\s3 nodes must/),
  ])
  await runCommand(cluster, 'heal', '--all')
})

it('`log repair` refills a damaged log from the copies of the nodes, and ordering continues', async () => {
  const repair = await runCommand(cluster, 'log', 'repair')
  expect([repair.code, repair.text]).toEqual([0, expect.stringMatching(/^Refilled offset [0-9]+ /)])
  const verdict = await runCommand(cluster, 'log', 'verify')
  expect([verdict.code, verdict.text]).toEqual([0, expect.stringMatching(/^The log is whole/)])
  const carol = await createUser(cluster, 'carol')
  await carol.pay('carol.unverified.ns')
  await untilFound(cluster, 'carol.unverified.ns')
})

/** Appends a group to the log of a stopped cluster, signed like those of its synchronizer. */
async function appendGroup(entries: Parameters<typeof signGroup>[0]['entries']) {
  const file = logFileOf(cluster.dataDir)
  const last = newestOf(file)
  const genesis = parseGenesis(
    JSON.parse(readFileSync(join(cluster.dataDir, 'genesis.json'), 'utf8')),
  )
  const group = signGroup(
    {
      firstOffset: Number.parseInt(last.id, 10) + 1,
      previousHash: toHex(sha256(last.bytes)),
      entries,
    },
    {
      genesisHash: await hashGenesis(genesis),
      keyPair: keyPairFromSeed(readFileSync(join(cluster.dataDir, 'keys', 'synchronizer'), 'utf8')),
    },
  )
  append(file, { ...group, id: `${group.lastOffset}-0` })
  return group
}

it('`log repair --cut` cuts off entries whose record time is ahead of the clock', async () => {
  await runCommand(cluster, 'down')
  const recordTime = clock.nowMicros() + MONTH_MICROS
  const group = await appendGroup([{ recordTime, bytes: new Uint8Array(0) }])
  const done = await runCommand(cluster, 'log', 'repair', '--cut')
  expect([done.code, done.text]).toEqual([
    0,
    expect.stringContaining(`Cut off offset ${group.lastOffset}, `),
  ])
})

describe('`log repair` changes nothing, and reports the reason and what to do, if', () => {
  const redis = () => join(cluster.dataDir, 'redis')
  const NODES = ['sv-1', 'sv-2', 'sv-3', 'sv-4']
  const ALL = [...NODES, 'validator', 'synchronizer']
  const copyOf = (history: string) => join(cluster.dataDir, history)
  const save = (history: string) => cpSync(redis(), copyOf(history), { recursive: true })
  const restore = (history: string, ...names: readonly string[]) => {
    for (const name of names) {
      rmSync(join(redis(), name), { recursive: true, force: true })
      cpSync(join(copyOf(history), name), join(redis(), name), { recursive: true })
    }
  }
  /** Starts the cluster from the common history, appends to the log, stops it, and saves the result. */
  const grow = async (history: string) => {
    restore('common', ...ALL)
    expect((await runCommand(cluster, 'up', '--detach')).code).toBe(0)
    await createUser(cluster, history)
    expect((await runCommand(cluster, 'down')).code).toBe(0)
    save(history)
  }
  beforeAll(async () => {
    save('common')
    await grow('one')
    await grow('other')
  })
  afterAll(() => restore('common', ...ALL))

  const breakFiles = (name: string) => {
    for (const file of readdirSync(appendOnlyFiles(name)))
      if (file.endsWith('.aof')) writeFileSync(join(appendOnlyFiles(name), file), 'no such file')
  }

  it.each<readonly [string, () => void, RegExp]>([
    [
      'the log differs from the one that nodes followed',
      () => restore('one', 'synchronizer'),
      /sv-1, sv-2, sv-3 and sv-4 followed another log than the one in \S+\. Restore the right directory\. If it is lost, move this one away, and try again/,
    ],
    [
      'two histories each have enough nodes',
      () => {
        restore('one', 'sv-1', 'sv-2')
        restore('common', 'synchronizer')
      },
      /signed 2 groups at offset \d+: sv-\d and sv-\d hold one, sv-\d and sv-\d hold another\. Keep everything: it is evidence\. Decide which history holds; then move the directories of the nodes with another one out of \S+redis, and try again/,
    ],
    [
      'only one node applied the lost entries',
      () => {
        restore('common', ...ALL)
        restore('one', 'sv-1')
      },
      /only sv-1 applied offsets \d+ to \d+, and 2 nodes must have them to refill them\. Restore an undamaged copy of \S+\. Do not wipe a replica before that\. Or give them up: move \S+sv-1 away, and try again\./,
    ],
    [
      'only the validator applied the lost entries',
      () => {
        restore('common', ...ALL)
        restore('one', 'validator')
      },
      /only validator applied .* Do not move the validator's directory away: it also holds its users, which no node has\./,
    ],
    [
      'only one node stores the damaged entries',
      () => {
        restore('common', ...ALL)
        damage(logFileOf(cluster.dataDir), 'entry of alice')
        for (const name of NODES.slice(1)) rmSync(join(redis(), name), { recursive: true })
      },
      /offsets? \d+ (to \d+ )?cannot be refilled: 2 nodes must have stored the same groups there; only sv-1 stored any\. Restore an undamaged copy/,
    ],
    [
      'it is unknown how much of a damaged end the validator applied',
      () => {
        restore('common', ...ALL)
        restore('one', 'synchronizer')
        const file = logFileOf(cluster.dataDir)
        damage(file, newestOf(file).bytes)
        breakFiles('validator')
      },
      /the end of the log could be cut off, but how much of it validator applied is unknown, because its Redis does not answer\. Start it, and try again; `quorumscan logs validator\.redis/,
    ],
  ])('%s', async (_, harm, message) => {
    restore('other', ...ALL)
    harm()
    const { code, text } = await runCommand(cluster, 'log', 'repair')
    const words = text.replace(/\s+/g, ' ')
    expect([code, words]).toEqual([1, expect.stringMatching(message)])
    expect(words).toMatch(/Nothing was changed: /)
    for (const line of text.split('\n'))
      if (!line.includes(cluster.dataDir)) expect(line.length, line).toBeLessThanOrEqual(80)
  })
})

it('`up` starts no new log for an empty log directory, and `log repair` restores the log', {
  tags: ['long', 'damage'],
}, async () => {
  const directory = join(cluster.dataDir, 'redis', 'synchronizer')
  renameSync(directory, `${directory}.moved`)
  const up = await runCommand(cluster, 'up', '--detach')
  expect([up.code, up.text.replace(/\s+/g, ' ')]).toEqual([
    1,
    expect.stringMatching(
      /The log ends at offset 0, but [234] nodes have applied it .*`quorumscan log repair --data-dir /,
    ),
  ])
  const repair = await runCommand(cluster, 'log', 'repair')
  expect([repair.code, repair.text]).toEqual([0, expect.stringMatching(/^Refilled offsets 1 to /)])
  const again = await runCommand(cluster, 'up', '--detach')
  expect([again.code, again.text]).toEqual([0, expect.stringContaining('quorumscan is up.')])
  // The node is rebuilt from the repaired log. Votes for another history would not agree with the others.
  await cluster.wipe('sv-4')
  await untilTrue('all nodes to agree', async () => {
    const found = await lookup(cluster, 'carol.unverified.ns', { 'x-quorum': 'all' })
    return found.headers.get('x-quorum-outcome') === 'verified' && found.status === 200
  })
})

it('a node that lost its disk recovers from a snapshot although the log is trimmed', async () => {
  await runCommand(cluster, 'down')
  const recordTime = clock.nowMicros()
  // An entry that replicas cannot decode also counts. The first snapshot is at offset 1 024.
  await appendGroup(
    Array.from({ length: 1024 }, (_, index) => ({
      recordTime: recordTime + index,
      bytes: Uint8Array.of(0),
    })),
  )
  const up = await runCommand(cluster, 'up', '--detach', '--log-keep', '0')
  expect([up.code, up.text]).toEqual([0, expect.stringContaining('quorumscan is up.')])
  await untilTrue('the log to be trimmed', async () => {
    const { code, stdout } = await runCommand(cluster, 'log', 'verify', '--json')
    return code === 0 && JSON.parse(stdout).start > 1
  })
  rmSync(join(cluster.dataDir, 'snapshots', 'sv-4'), { recursive: true })
  const wiped = await runCommand(cluster, 'wipe', 'sv-4')
  expect(wiped.text).toContain('sv-4 was wiped and is up')
  await untilTrue('all nodes to agree', async () => {
    const found = await lookup(cluster, 'carol.unverified.ns', { 'x-quorum': 'all' })
    return found.headers.get('x-quorum-outcome') === 'verified' && found.status === 200
  })
  const erin = await createUser(cluster, 'erin')
  await erin.pay('erin.unverified.ns')
  await untilFound(cluster, 'erin.unverified.ns')
})
