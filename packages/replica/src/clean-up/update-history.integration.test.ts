import { connect } from 'node:net'
import { type EntryResult, partyParticipant } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import { createManualClock, listen, untilTrue } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { openReplica, type Replica } from '../replica.ts'
import { archivalsKey, KEYS } from '../storage/keys.ts'
import { createLayout } from '../storage/layout.ts'
import { ARCHIVALS_FIELD, PRUNED_FIELD, THROUGH_FIELD } from '../storage/plan-histories.ts'
import { loadHeadState } from '../storage/store.ts'
import { createMemoryOrdering } from '../testing/memory-ordering.ts'
import { growRandomLog } from '../testing/random-log.ts'
import { beginHistory } from './update-history.ts'

const { network, ledger, svs } = growRandomLog('archivals', 150)
const log = ledger.entries()

type Life = { readonly created: number; archived?: number }

/** Where each contract began and ended, as the ledger itself says. */
function livesOf(results: readonly EntryResult[]): ReadonlyMap<string, Life> {
  const lives = new Map<string, Life>()
  for (const [index, result] of results.entries()) {
    if (result.kind !== 'accepted') continue
    const offset = log[index]?.offset ?? 0
    for (const event of result.update.events) {
      // Contracts of the genesis have no creating event.
      const life = lives.get(event.contractId) ?? { created: event.kind === 'created' ? offset : 0 }
      lives.set(event.contractId, life)
      if (event.kind === 'exercised' && event.consuming) life.archived = offset
    }
  }
  return lives
}

const lives = livesOf(ledger.results())
const archived = [...lives.values()].flatMap((life) =>
  life.archived === undefined ? [] : [{ ...life, archived: life.archived }],
)
// Contracts that began before it end after it.
const cut = Math.floor(log.length / 2)

it('the log of these tests has contracts of every lifetime', () => {
  expect(archived.some((life) => life.created === life.archived)).toBe(true)
  expect(archived.some((life) => life.archived <= cut)).toBe(true)
  expect(archived.some((life) => life.created <= cut && life.archived > cut)).toBe(true)
  expect([...lives.values()].some((life) => life.archived === undefined)).toBe(true)
})

/** A replica with a history of updates, which has applied so much. */
async function follow(socketPath: string, upTo: number, batch: number): Promise<Replica> {
  const clock = createManualClock(ledger.head().recordTime)
  const participant = partyParticipant(svs[0]?.party ?? '')
  const options = { redis: { path: socketPath }, clock, participant }
  const replica = await openReplica({ ...options, ...network })
  const reached = new Promise<void>((resolve) => {
    const check = () => (replica.head().offset >= upTo ? resolve() : undefined)
    replica.onApplied(check)
    check()
  })
  void replica.run(
    createMemoryOrdering(log.slice(0, upTo), () => batch),
    new AbortController().signal,
  )
  await reached
  return replica
}

it('finds the archival of a contract until it is pruned, over restarts', async ({ redis }) => {
  const connection = redis.connect()
  const { socketPath } = redis
  const check = async (replica: Replica, pruned: number) => {
    for (const [id, { created, archived: end = 0 }] of lives) {
      const update = await replica.history.archivalOf(id)
      expect(update?.offset, id).toBe(end > pruned ? end : undefined)
      // The update has the contract even if the update that created it is pruned.
      if (update !== null && created < end)
        expect(
          replica.history.archivedContracts(update).find(({ contractId }) => contractId === id)
            ?.offset,
          id,
        ).toBe(created)
    }
  }
  {
    await using half = await follow(socketPath, cut, 7)
    expect(half.head().offset).toBe(cut)
  }
  {
    await using whole = await follow(socketPath, log.length, 40)
    await check(whole, 0)
    // Ids with the same prefix as those of archived contracts.
    for (const id of lives.keys())
      expect(await whole.history.archivalOf(id.slice(0, -40).padEnd(id.length, '0'))).toBe(null)
    expect(await connection.xlen(KEYS.updates)).toBeGreaterThan(0)
    expect(await connection.zcard(KEYS.completions)).toBeGreaterThan(0)
    // Pruned updates are hidden before they are deleted.
    await connection.hset(KEYS.history, PRUNED_FIELD, cut)
    await check(whole, cut)
    await whole.prune(cut)
    await check(whole, cut)
  }
  await using again = await follow(socketPath, log.length, 40)
  await check(again, cut)
  await again.prune(log.length)
  await check(again, log.length)
  expect(await connection.zcard(KEYS.updateTags)).toBe(0)
  expect(await connection.xlen(KEYS.updates)).toBe(0)
  expect(await connection.zcard(KEYS.completions)).toBe(0)
  connection.disconnect()
})

/** An archived contract in the history of a replica. */
type Archival = {
  readonly parties: readonly string[]
  readonly created: number
  readonly end: number
}

async function archivalsIn({ history }: Replica): Promise<readonly Archival[]> {
  const portion = await history.updates({
    after: await history.prunedOffset(),
    upTo: log.length,
    order: 'asc',
    bytes: Number.MAX_SAFE_INTEGER,
  })
  if (portion.kind !== 'updates') throw new Error('the history is not pruned meanwhile')
  return [...portion.updates].flatMap((update) =>
    history.archivedContracts(update).map((contract) => ({
      parties: [...contract.signatories, ...contract.observers],
      created: contract.offset,
      end: update.offset,
    })),
  )
}

const byNumber = (one: number, other: number) => one - other

/** Compares the index with all archivals, for each party and for all contracts, at many offsets. */
async function expectIndexed(replica: Replica): Promise<void> {
  const archivals = await archivalsIn(replica)
  const parties = [...new Set(archivals.flatMap((one) => one.parties))].filter(
    (party) => party !== network.genesis.dso,
  )
  const pruned = await replica.history.prunedOffset()
  const find = async (of: readonly string[] | null, at: number) => {
    const offsets: number[] = []
    for await (const portion of replica.history.archivalsAfter(of, at)) {
      expect(portion.pruned).toBe(pruned)
      offsets.push(...portion.updates.map(({ offset }) => offset))
    }
    return offsets.sort(byNumber)
  }
  const expected = (isMeant: (one: Archival) => boolean, at: number) => {
    const active = archivals.filter((one) => one.created <= at && at < one.end && isMeant(one))
    return [...new Set(active.map(({ end }) => end))].sort(byNumber)
  }
  for (let at = pruned; at <= log.length; at += 11) {
    expect(await find(null, at), `all at ${at}`).toEqual(expected(() => true, at))
    for (const party of parties)
      expect(await find([party], at), `${party} at ${at}`).toEqual(
        expected((one) => one.parties.includes(party), at),
      )
    expect(await find(parties, at)).toEqual(
      expected((one) => one.parties.some((party) => parties.includes(party)), at),
    )
  }
}

it('finds the archivals of contracts that were active at an offset, and no others', async ({
  redis,
}) => {
  await using replica = await follow(redis.socketPath, log.length, 40)
  await expectIndexed(replica)
  await replica.prune(cut)
  await expectIndexed(replica)
})

/** All members of the index. */
async function listed(connection: Redis): Promise<readonly string[]> {
  const keys = await connection.keys(archivalsKey('*'))
  const members = await Promise.all(
    keys.map((key) => connection.zrangeBuffer(key, '-', '+', 'BYLEX')),
  )
  return members
    .flat()
    .map((member) => member.toString('hex'))
    .sort()
}

const UNFINISHED = 'of an index that was not finished'

/** A stored history without its index, as an older release leaves it. Returns the members of the whole index. */
async function writeWithoutIndex(socketPath: string, connection: Redis) {
  {
    await using half = await follow(socketPath, cut, 7)
    expect(half.head().offset).toBe(cut)
  }
  const whole = await listed(connection)
  expect(whole.length).toBeGreaterThan(0)
  await connection.hdel(KEYS.history, ARCHIVALS_FIELD)
  await connection.unlink(await connection.keys(archivalsKey('*')))
  await connection.zadd(archivalsKey('xx'), 0, UNFINISHED)
  return whole
}

async function isIndexed(connection: Redis): Promise<boolean> {
  return (await connection.hget(KEYS.history, ARCHIVALS_FIELD)) === String(cut)
}

it('makes the index of archivals that an older release did not write', async ({
  redis,
  connection,
}) => {
  const whole = await writeWithoutIndex(redis.socketPath, connection)
  await using again = await follow(redis.socketPath, cut, 7)
  await untilTrue('the index to be made', () => isIndexed(connection))
  expect(await listed(connection)).toEqual(whole)
  await again.prune(cut)
  expect(await listed(connection)).toEqual([])
})

it('is not pruned before the index of archivals is complete', async ({ redis, connection }) => {
  await using replica = await follow(redis.socketPath, cut, 7)
  const before = await listed(connection)
  for (const field of [ARCHIVALS_FIELD, THROUGH_FIELD]) {
    await connection.hdel(KEYS.history, field)
    await expect(replica.prune(cut)).rejects.toMatchObject({ code: 'NOT_READY' })
  }
  expect(await replica.history.prunedOffset()).toBe(0)
  expect(await listed(connection)).toEqual(before)
})

it.for([
  ['a history with a gap', [THROUGH_FIELD, 1]],
  ['the index', [ARCHIVALS_FIELD, 1]],
] as const)(
  'begins %s only as long as no other writer has moved the head',
  async ([, field], { redis, connection }) => {
    {
      await using half = await follow(redis.socketPath, cut, 7)
      expect(half.head().offset).toBe(cut)
    }
    const headState = await loadHeadState(connection)
    if (headState === null) throw new Error('nothing is stored')
    {
      await using other = await follow(redis.socketPath, cut, 7)
      await other.raiseHorizon(cut, new AbortController().signal)
    }
    await connection.hset(KEYS.history, ...field)
    const stored = async () => [await listed(connection), await connection.hgetall(KEYS.history)]
    const before = await stored()
    const options = { layout: createLayout(network), signal: new AbortController().signal }
    expect(await beginHistory(connection, headState, options)).toBe('fenced')
    expect(await stored()).toEqual(before)
  },
)

/** Runs a replica while `repair` waits for what it needs, until the index is made. */
async function runUntilIndexed(
  redis: RedisAddress,
  connection: Redis,
  { onProblem, repair }: { onProblem?: (error: Error) => void; repair?: () => Promise<void> },
): Promise<void> {
  const clock = createManualClock(ledger.head().recordTime)
  const participant = partyParticipant(svs[0]?.party ?? '')
  const options = { redis, clock, participant, ...(onProblem && { onProblem }) }
  await using replica = await openReplica({ ...options, ...network })
  const running = replica.run(
    createMemoryOrdering(log.slice(0, cut), () => 7),
    new AbortController().signal,
  )
  const made = async () => {
    await repair?.()
    await untilTrue('the index to be made', async () => {
      await clock.advance(1_000)
      return await isIndexed(connection)
    })
  }
  // A run that ends has failed.
  const ended = running.then(() => expect.unreachable('the run continues'))
  await Promise.race([made(), ended])
}

it.for([
  ['the first write', 'UNLINK'],
  ['a read of updates', 'XRANGE'],
  ['a write of members', 'ZADD'],
  ['the last write', `HSET\r\n$1\r\n2\r\n$1\r\n2\r\n$9\r\n${ARCHIVALS_FIELD}`],
] as const)(
  'makes the whole index although the connection is lost before %s',
  async ([, text], { redis, connection, resources }) => {
    const whole = await writeWithoutIndex(redis.socketPath, connection)
    let isLost = false
    const server = resources.opened(
      await listen((client) => {
        const upstream = connect(redis.socketPath).on('error', () => {})
        client.on('close', () => upstream.destroy())
        upstream.on('close', () => client.destroy()).pipe(client)
        client.on('data', (bytes: Buffer) => {
          if (isLost || !bytes.includes(text)) upstream.write(bytes)
          else {
            isLost = true
            client.destroy()
          }
        })
      }),
    )
    await runUntilIndexed({ host: '127.0.0.1', port: server.port }, connection, {})
    expect(isLost).toBe(true)
    expect(await listed(connection)).toEqual(whole)
  },
)

it('makes the whole index although Redis refuses a command for a time', async ({
  redis,
  connection,
  resources,
}) => {
  const whole = await writeWithoutIndex(redis.socketPath, connection)
  const allow = async () => {
    await connection.call('ACL', 'SETUSER', 'default', '+@all')
  }
  resources.onClose(allow)
  await connection.call('ACL', 'SETUSER', 'default', '-xrange')
  // An index that reached so far before the older release wrote.
  await connection.hset(KEYS.history, ARCHIVALS_FIELD, 1)
  const problems: Error[] = []
  await runUntilIndexed({ path: redis.socketPath }, connection, {
    onProblem: (error) => problems.push(error),
    async repair() {
      await untilTrue('a refusal', () => problems.length > 0)
      expect(await connection.hget(KEYS.history, ARCHIVALS_FIELD)).toBe(null)
      await allow()
    },
  })
  expect(problems[0]).toMatchObject({ name: 'ReplyError' })
  expect(await listed(connection)).toEqual(whole)
})
