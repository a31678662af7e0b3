import { createKeyPair, createSystemClock, utf8 } from '@quorumscan/base'
import { createManualClock, until } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { LOG_USER } from './acl.ts'
import { appendAll, startLogRedis } from './testing/log-redis.ts'
import { chainOf, genesis, never, readUntil, START_MICROS } from './testing/signed-groups.ts'
import type { LogWriter } from './writer.ts'
import { openWriterSession } from './writer-session.ts'

const entry = (index: number) => utf8(`entry ${index}`)
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const clock = createSystemClock()
const reachesOffset = (writer: LogWriter, offset: number) =>
  until(`offset ${offset}`, () => (writer.head().offset >= offset ? true : undefined))

describe('the writer', () => {
  it('puts entries that arrive during one append into the next group', async () => {
    await using log = await startLogRedis()
    await using writer = await log.writer()
    await Promise.all(numbers(200).map((index) => writer.append(entry(index))))
    const entries = await readUntil(log.reader(), { until: (all) => all.length >= 200 })
    expect(entries.map(({ bytes }) => text(bytes))).toEqual(
      numbers(200).map((index) => `entry ${index}`),
    )
    expect(entries.map(({ offset }) => offset)).toEqual(numbers(200).map((index) => index + 1))
    const connection = await log.connection()
    const groups = await connection.range(1, 1000)
    connection.close()
    expect(groups.length).toBeLessThan(5)
  })

  it('gives rising record times while its clock stalls, also after a restart', async () => {
    await using log = await startLogRedis()
    const late = createManualClock(START_MICROS + 2_000_000 - 1)
    const first = await log.writer({ clock: late })
    await Promise.all([first.append(entry(0)), first.append(entry(1))])
    await first[Symbol.asyncDispose]()
    const early = createManualClock(START_MICROS)
    await using second = await log.writer({ clock: early })
    expect(second.head()).toEqual(first.head())
    await second.append(entry(2))
    const entries = await readUntil(log.reader(), { until: (all) => all.length >= 3 })
    expect(entries.map(({ recordTime }) => recordTime - START_MICROS)).toEqual([
      1_999_999, 2_000_000, 2_000_001,
    ])
  })

  it('refuses entries and writes nothing while its clock is off, and continues by itself', async () => {
    await using log = await startLogRedis()
    const manual = createManualClock(START_MICROS)
    let aheadMicros = 0
    const reading = (peer: string) => ({
      peer,
      wallMicros: manual.nowMicros(),
      atMs: manual.monotonicMs(),
      head: 0,
    })
    await using writer = await log.writer({
      clock: { ...manual, nowMicros: () => manual.nowMicros() + aheadMicros },
      confirmingNodes: {
        confirmationsMin: 2,
        answersExpected: 2,
        readings: () => [reading('sv-1'), reading('sv-2')],
      },
    })
    await writer.append(entry(0))
    aheadMicros = 30 * 86_400 * 1_000_000
    await expect(writer.append(entry(1))).rejects.toMatchObject({ code: 'CLOCK_OFF' })
    // Longer than the longest interval between checkpoints.
    await manual.advance(30_000)
    expect(writer.head().offset).toBe(1)
    aheadMicros = 0
    await manual.advance(200)
    await reachesOffset(writer, 2)
    await writer.append(entry(2))
    const entries = await readUntil(log.reader(), { until: (all) => all.length >= 3 })
    expect(entries.map(({ bytes }) => text(bytes))).toEqual(['entry 0', '', 'entry 2'])
    expect(entries.at(-1)?.recordTime).toBeLessThan(START_MICROS + 60_000_000)
  })

  it('appends a checkpoint at once when it is asked for one', async () => {
    await using log = await startLogRedis()
    // Its clock stands still: no checkpoint comes by itself.
    const manual = createManualClock(START_MICROS)
    await using writer = await log.writer({ clock: manual })
    await writer.append(entry(0))
    await writer.append(new Uint8Array())
    await reachesOffset(writer, 2)
    await writer.append(new Uint8Array())
    await reachesOffset(writer, 3)
    const entries = await readUntil(log.reader(), { until: (all) => all.length >= 3 })
    expect(entries.map(({ bytes }) => text(bytes))).toEqual(['entry 0', '', ''])
  })

  it('appends a checkpoint 250 ms after an entry, then after 2 s, 4 s, 8 s, 10 s and 10 s', async () => {
    await using log = await startLogRedis()
    const manual = createManualClock(START_MICROS)
    await using writer = await log.writer({ clock: manual })
    await writer.append(entry(0))
    let offset = 1
    for (const ms of [250, 2000, 4000, 8000, 10_000, 10_000]) {
      await manual.advance(ms - 1)
      expect(writer.head().offset, `before ${ms} ms`).toBe(offset)
      await manual.advance(1)
      await reachesOffset(writer, ++offset)
    }
    await writer.append(entry(1))
    offset++
    await manual.advance(250)
    await reachesOffset(writer, offset + 1)
    const entries = await readUntil(log.reader(), { until: (all) => all.length > offset })
    expect(entries.map(({ bytes }) => text(bytes))).toEqual([
      'entry 0',
      ...Array(6).fill(''),
      'entry 1',
      '',
    ])
  })

  it('reports each group when it is on disk, and the newest when it begins', async () => {
    await using log = await startLogRedis()
    const manual = createManualClock(START_MICROS)
    const reported: number[] = []
    const onCommitted = ({ lastOffset }: { lastOffset: number }) => void reported.push(lastOffset)
    const first = await log.writer({ clock: manual, onCommitted })
    await first.append(entry(1))
    await first.append(entry(2))
    await first[Symbol.asyncDispose]()
    expect(reported).toEqual([1, 2])
    await using _second = await log.writer({ clock: manual, onCommitted })
    expect(reported).toEqual([1, 2, 2])
  })

  it('commits waiting entries before it closes, and accepts none afterwards', async () => {
    await using log = await startLogRedis()
    const writer = await log.writer()
    const appended = Promise.all(numbers(50).map((index) => writer.append(entry(index))))
    await writer[Symbol.asyncDispose]()
    await appended
    await writer.finished
    await expect(writer.append(entry(50))).rejects.toMatchObject({ code: 'NOT_READY' })
    const entries = await readUntil(log.reader(), { until: (all) => all.length >= 50 })
    expect(entries).toHaveLength(50)
  })

  it('loses nothing that it acknowledged, and appends nothing twice, when Redis is killed again and again', async () => {
    await using log = await startLogRedis()
    await using writer = await log.writer()
    const acknowledged: string[] = []
    let next = 0
    for (let round = 0; round < 5; round++) {
      await until('the writer', () => (writer.state() === 'ready' ? true : undefined))
      let isOver = false
      const client = async () => {
        while (!isOver) {
          const bytes = entry(next++)
          // After a rejection by a killed Redis the outcome is unknown, so nothing is asserted.
          await writer.append(bytes).then(
            () => acknowledged.push(text(bytes)),
            () => clock.delay(1),
          )
        }
      }
      const before = acknowledged.length
      const clients = numbers(20).map(client)
      await until('some appends', () => (acknowledged.length > before + 50 ? true : undefined))
      await log.redis.kill()
      isOver = true
      await Promise.all(clients)
      await log.redis.restart()
    }
    await until('the writer', () => (writer.state() === 'ready' ? true : undefined))
    await writer.append(utf8('the end'))
    const entries = await readUntil(log.reader(), {
      until: (all) => all.some(({ bytes }) => text(bytes) === 'the end'),
    })
    const texts = entries.map(({ bytes }) => text(bytes)).filter((line) => line !== '')
    expect(new Set(texts).size).toBe(texts.length)
    expect(acknowledged.filter((line) => !texts.includes(line))).toEqual([])
  })

  it('refuses appends while Redis is away', async () => {
    await using log = await startLogRedis()
    await using writer = await log.writer()
    await log.redis.kill()
    await until('the loss', () => (writer.state() === 'unavailable' ? true : undefined))
    await expect(writer.append(entry(0))).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
  })

  it('is fenced off by a second writer and appends nothing more', async () => {
    await using log = await startLogRedis()
    const manual = createManualClock(START_MICROS)
    await using first = await log.writer({ clock: manual })
    await using second = await log.writer({ clock: manual })
    await second.append(entry(2))
    await expect(first.append(entry(1))).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    await expect(first.finished).rejects.toMatchObject({ name: 'LogFencedError' })
    await expect(first.append(entry(1))).rejects.toMatchObject({ code: 'NOT_READY' })
    await second.append(entry(3))
    const entries = await readUntil(log.reader(), { until: (all) => all.length >= 2 })
    expect(entries.map(({ bytes }) => text(bytes))).toEqual(['entry 2', 'entry 3'])
  })

  it('does not start on a Redis that could lose an acknowledged write', async () => {
    await using log = await startLogRedis('everysec')
    await expect(log.writer()).rejects.toThrow(
      "the log's Redis may lose what it acknowledged: appendfsync is everysec; it must be always",
    )
  })

  it('does not start with a key that the genesis does not name', async () => {
    await using log = await startLogRedis()
    await expect(log.writer({ keyPair: createKeyPair() })).rejects.toMatchObject({
      name: 'LogConfigError',
    })
  })

  it('waits for a Redis that is not up yet, until its signal aborts', async () => {
    await using log = await startLogRedis()
    await log.redis.kill()
    const giveUp = new AbortController()
    let failures = 0
    const starting = log.writer({
      signal: giveUp.signal,
      onProblem: () => {
        if (++failures === 2) giveUp.abort(new Error('given up'))
      },
    })
    await expect(starting).rejects.toThrow('given up')
    const later = log.writer()
    await log.redis.restart()
    await using writer = await later
    expect(writer.state()).toBe('ready')
  })
})

describe('a session after a lost answer', () => {
  const [first, second] = chainOf(
    numbers(2).map((index) => ({ recordTime: START_MICROS + 1 + index, bytes: entry(index) })),
    [1, 1],
  )
  if (first === undefined || second === undefined) throw new Error('two groups')
  const end = { offset: 1, recordTime: START_MICROS + 1, hash: first.hash, group: first }
  const open = (log: Awaited<ReturnType<typeof startLogRedis>>, unsettled: typeof second) =>
    openWriterSession({
      redis: log.address,
      genesis,
      position: { end, unsettled },
      signal: never,
      onClose: () => {},
    })

  it('accepts the unsettled group if it is on disk', async () => {
    await using log = await startLogRedis()
    const connection = await log.connection()
    await appendAll(connection, [first, second])
    connection.close()
    const session = await open(log, second)
    session.connection.close()
    expect(session).toMatchObject({ end: { offset: 2, hash: second.hash }, unsettled: null })
  })

  it('keeps the unsettled group to be sent again if it is not on disk', async () => {
    await using log = await startLogRedis()
    const connection = await log.connection()
    await appendAll(connection, [first])
    connection.close()
    const session = await open(log, second)
    session.connection.close()
    expect(session).toMatchObject({ end: { offset: 1 }, unsettled: second })
  })

  it('fails with LogFencedError if the log ends elsewhere', async () => {
    await using log = await startLogRedis()
    await expect(open(log, second)).rejects.toMatchObject({ name: 'LogFencedError' })
  })
})

it('the Redis user of the log may run only the commands that it needs', async () => {
  await using log = await startLogRedis()
  const client = log.redis.connect()
  try {
    for (const command of [
      ['DEL', 'log'],
      ['SET', 'other', ''],
      ['CONFIG', 'SET', 'appendfsync', 'no'],
      ['XADD', 'other', '1-0', 'g', ''],
      ['XRANGE', 'other', '-', '+'],
    ])
      expect(await client.call('ACL', 'DRYRUN', LOG_USER, ...command), command.join(' ')).not.toBe(
        'OK',
      )
    expect(await client.call('ACL', 'DRYRUN', LOG_USER, 'XRANGE', 'log', '-', '+')).toBe('OK')
  } finally {
    client.disconnect()
  }
})
