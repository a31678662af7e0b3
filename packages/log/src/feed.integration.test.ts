import { createSystemClock, sha256, toHex, utf8 } from '@quorumscan/base'
import { untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { createLogFeed, FOLLOWERS_MAX, FOLLOWERS_PER_PEER_MAX } from './feed.ts'
import { createFrameDecoder, type Frame } from './frame.ts'
import type { SignedGroup } from './group.ts'
import { appendAll, startLogRedis } from './testing/log-redis.ts'
import { chainOf, readUntil, START_MICROS } from './testing/signed-groups.ts'

const it = base
  .extend('server', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startLogRedis()),
  )
  .extend('log', async ({ server }) => {
    await server.empty()
    return server
  })
  .extend('writer', async ({ log, resources }) => {
    const writer = await log.connection()
    resources.onClose(() => writer.close())
    return writer
  })
  .extend('feed', ({ log, resources }) =>
    resources.opened(createLogFeed({ redis: log.address, clock })),
  )
  /** Frames of a stream until `count` of them have a group. */
  .extend(
    'framesOf',
    ({ feed }) =>
      async (from: number, count: number, peer = 'peer'): Promise<Frame[]> => {
        const stop = new AbortController()
        const decoder = createFrameDecoder()
        const frames: Frame[] = []
        for await (const piece of await feed.open({ from, peer, signal: stop.signal })) {
          frames.push(...decoder.add(piece))
          if (frames.filter(({ group }) => group !== null).length >= count) break
        }
        stop.abort()
        return frames
      },
  )
const clock = createSystemClock()
const unending = () => new AbortController().signal

const entriesOf = (count: number, bytes = 5) =>
  Array.from({ length: count }, (_, index) => ({
    recordTime: START_MICROS + index + 1,
    bytes: utf8(String(index).padStart(bytes, '0')),
  }))
const groupsOf = (count: number, size: number, bytes = 5) =>
  chainOf(entriesOf(count * size, bytes), Array(count).fill(size))
const last = (groups: readonly SignedGroup[]) => groups.at(-1) as SignedGroup

const offsets = (frames: readonly Frame[]) =>
  frames.map(({ offset, group }) => (group === null ? `-${offset}` : offset))

describe('the stream of the log', () => {
  it('begins with the head of the log, then sends all groups from the offset on', async ({
    writer,
    feed,
    framesOf,
  }) => {
    const groups = groupsOf(30, 2)
    await appendAll(writer, groups)
    feed.publish(last(groups))
    const frames = await framesOf(6, 28)
    expect(offsets(frames)).toEqual(['-60', ...groups.slice(2).map(({ lastOffset }) => lastOffset)])
    expect(frames[1]?.group).toEqual({ bytes: groups[2]?.bytes, signature: groups[2]?.signature })
  })

  it('sends published groups from memory, to followers that are up to date and those that lag', async ({
    writer,
    feed,
    framesOf,
    log,
  }) => {
    const groups = groupsOf(2000, 1, 100)
    await appendAll(writer, groups)
    for (const group of groups) feed.publish(group)
    const wanted = groups.map(({ lastOffset }) => lastOffset)
    expect(offsets(await framesOf(1, 2000))).toEqual(['-2000', ...wanted])
    await log.redis.kill()
    expect(offsets(await framesOf(1990, 11))).toEqual(['-2000', ...wanted.slice(1989)])
    await expect(framesOf(1, 1)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    await log.redis.restart()
    expect(await framesOf(1, 3)).toHaveLength(9)
  })

  it('sends no group that the writer does not know to be on disk', async ({ writer, feed }) => {
    const groups = groupsOf(12, 1)
    await appendAll(writer, groups)
    feed.publish(groups[9] as SignedGroup)
    const stop = new AbortController()
    const stream = await feed.open({ from: 1, peer: 'peer', signal: stop.signal })
    const decoder = createFrameDecoder()
    const seen: Frame[] = []
    for await (const piece of stream) {
      seen.push(...decoder.add(piece))
      // The last frame is the heartbeat of an idle stream.
      if (seen.length >= 12) break
    }
    stop.abort()
    expect(offsets(seen)).toEqual(['-10', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, '-10'])
  })

  it('waits for an offset that the log has not reached', async ({ writer, feed, framesOf }) => {
    const groups = groupsOf(3, 1)
    await appendAll(writer, groups)
    feed.publish(groups[0] as SignedGroup)
    const frames = framesOf(3, 1)
    feed.publish(groups[1] as SignedGroup)
    feed.publish(groups[2] as SignedGroup)
    expect(offsets(await frames)).toEqual(['-3', 3])
  })

  it('refuses an offset below the start of the log with OFFSET_PRUNED', async ({
    writer,
    log,
    feed,
    framesOf,
  }) => {
    const groups = groupsOf(5, 2)
    await appendAll(writer, groups)
    const admin = log.redis.connect()
    await admin.xtrim('log', 'MINID', '6-0')
    admin.disconnect()
    feed.publish(last(groups))
    const other = createLogFeed({ redis: log.address, clock })
    other.publish(last(groups))
    const refused = other.open({ from: 4, peer: 'peer', signal: unending() })
    await expect(refused).rejects.toMatchObject({
      code: 'OFFSET_PRUNED',
      message: 'the log does not reach back to offset 4: it begins at 5',
    })
    await other[Symbol.asyncDispose]()
    expect(offsets(await framesOf(5, 3))).toEqual(['-10', 6, 8, 10])
  })

  it('reads one portion at most for a follower that reads nothing', async ({ writer, feed }) => {
    const groups = groupsOf(64, 1, 1000)
    await appendAll(writer, groups)
    feed.publish(last(groups))
    const stream = await feed.open({ from: 1, peer: 'slow', signal: unending() })
    const pieces = stream[Symbol.asyncIterator]()
    await pieces.next()
    const { value } = await pieces.next()
    expect([...createFrameDecoder().add(value)].map(({ offset }) => offset)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ])
  })
})

describe('the followers', () => {
  it('are limited in number, and one that leaves makes room', async ({ feed }) => {
    const first = new AbortController()
    await feed.open({ from: 1, peer: 'peer 0', signal: first.signal })
    for (let index = 1; index < FOLLOWERS_MAX; index++)
      await feed.open({ from: 1, peer: `peer ${index}`, signal: unending() })
    const one = () => feed.open({ from: 1, peer: 'one more', signal: unending() })
    await expect(one()).rejects.toMatchObject({ code: 'OVERLOADED' })
    first.abort()
    await one()
  })

  it('of one peer are limited: its oldest stream ends when it opens another', async ({ feed }) => {
    const open = () => feed.open({ from: 1, peer: 'one', signal: unending() })
    const oldest = await open()
    for (let count = 1; count < FOLLOWERS_MAX + 10; count++) await open()
    const pieces: unknown[] = []
    for await (const piece of oldest) pieces.push(piece)
    expect(pieces).toHaveLength(1)
    for (let index = 0; index < FOLLOWERS_MAX - FOLLOWERS_PER_PEER_MAX; index++)
      await feed.open({ from: 1, peer: `peer ${index}`, signal: unending() })
  })

  it('end when the peer is no longer admitted, which makes room', async ({ feed }) => {
    let isAdmitted = true
    const peer = { peer: 'peer', isAdmitted: () => isAdmitted }
    const stream = await feed.open({ from: 1, ...peer, signal: unending() })
    const pieces = stream[Symbol.asyncIterator]()
    await pieces.next()
    isAdmitted = false
    expect(await pieces.next()).toMatchObject({ done: true })
    expect(feed.followerCount()).toBe(0)
  })

  it('end when the feed is closed, and none can join afterwards', async ({ feed, framesOf }) => {
    const stream = await feed.open({ from: 1, peer: 'peer', signal: unending() })
    const ended = (async () => {
      for await (const _ of stream);
    })()
    await feed[Symbol.asyncDispose]()
    await ended
    await expect(framesOf(1, 1)).rejects.toMatchObject({ code: 'NOT_READY' })
  })
})

it('followers receive each entry once while a writer writes and Redis is killed', async () => {
  await using own = await startLogRedis()
  await using busy = await own.writer()
  const wanted: string[] = []
  let isOver = false
  const client = async () => {
    for (let index = 0; !isOver; index++) {
      const text = `entry ${index}`
      await busy.append(utf8(text)).then(
        () => wanted.push(text),
        () => clock.delay(1),
      )
    }
    while (
      !(await busy.append(utf8('the end')).then(
        () => true,
        () => false,
      ))
    )
      await clock.delay(1)
  }
  const writing = client()
  const reading = readUntil(own.reader(), {
    until: (all) =>
      all.some(({ bytes }) => toHex(sha256(bytes)) === toHex(sha256(utf8('the end')))),
  })
  for (let round = 0; round < 3; round++) {
    const before = wanted.length
    await untilTrue('some entries', () => wanted.length > before + 20)
    await own.redis.kill()
    await own.redis.restart()
  }
  isOver = true
  await writing
  const read = await reading
  expect(read.map(({ offset }) => offset)).toEqual(read.map((_, index) => index + 1))
  const texts = read.map(({ bytes }) => Buffer.from(bytes).toString())
  expect(wanted.filter((text) => !texts.includes(text))).toEqual([])
})
