import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { sha256Hex, utf8 } from '@quorumscan/base'
import type { EntryRefusal } from '@quorumscan/log'
import { createDirectory, createManualClock, serve, untilTrue } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { encodeBundle } from './bundles.ts'
import { createEngineRpc } from './engine-rpc.ts'
import { createSubmission } from './submission.ts'

type Answer = { result?: unknown; error?: unknown } | 'nothing'

/** An engine that gives these answers on its socket. */
async function setUp(
  answer: () => Answer | Promise<Answer>,
  take: (bytes: Uint8Array) => EntryRefusal | null = () => null,
) {
  const directory = createDirectory()
  const socketPath = join(directory.path, 'engine')
  const asked: unknown[] = []
  const server = await serve(
    async (request, response) => {
      asked.push(JSON.parse(await text(request)))
      const said = await answer()
      if (said === 'nothing') request.socket.destroy()
      else response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...said }))
    },
    { at: socketPath },
  )
  const clock = createManualClock(0)
  const ordered = new Set<string>()
  const submission = createSubmission({
    rpc: createEngineRpc({ socketPath, signal: new AbortController().signal }),
    isOrdered: (hash) => ordered.has(hash),
    admit: take,
    bundle: encodeBundle,
    clock,
  })
  return {
    submission,
    asked,
    clock,
    order(bytes: Uint8Array) {
      ordered.add(sha256Hex(bytes))
      submission.ordered(sha256Hex(bytes))
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}

const entry = utf8('entry')
const base64 = (entries: readonly Uint8Array[]) =>
  Buffer.from(encodeBundle(entries)).toString('base64')
const taken = { result: { code: 0 } }
const inCache = {
  error: { code: -32603, message: 'Internal error', data: 'tx already exists in cache' },
}

describe('submitting an entry to the engine', () => {
  it.each([
    ['accepts it', taken],
    ['has it already', inCache],
  ])('that %s completes every waiting call once the entry is ordered', async (_, answer) => {
    await using engine = await setUp(() => answer)
    let done = 0
    const both = [1, 2].map(async () => {
      await engine.submission.submit(entry, 'alice')
      done++
    })
    await untilTrue('it to be offered', () => engine.asked.length > 0)
    engine.submission.ordered(sha256Hex(utf8('another')))
    expect(done).toBe(0)
    engine.order(entry)
    await Promise.all(both)
    expect(engine.asked[0]).toMatchObject({
      method: 'broadcast_tx_sync',
      params: { tx: base64([entry]) },
    })
  })

  it('sends nothing if the entry is in the log already', async () => {
    await using engine = await setUp(() => taken)
    engine.order(entry)
    await engine.submission.submit(entry, 'alice')
    expect(engine.asked).toEqual([])
  })

  it('succeeds if the entry was ordered while the engine refused it as ordered', async () => {
    await using engine = await setUp(() => {
      engine.order(entry)
      return { result: { code: 1, codespace: 'INVALID_ARGUMENT', log: 'in the log already' } }
    })
    await engine.submission.submit(entry, 'alice')
  })

  it('bundles all entries that arrived during the previous request, each once', async () => {
    let answerFirst = () => {}
    const first = new Promise<void>((resolve) => {
      answerFirst = resolve
    })
    await using engine = await setUp(() => first.then(() => taken))
    const texts = ['first', ...Array.from({ length: 70 }, (_, index) => `entry ${index}`)]
    const entries = texts.map((text) => utf8(text))
    const offered = [...entries, ...entries.slice(1)].map((bytes) =>
      engine.submission.submit(bytes, 'alice'),
    )
    await untilTrue('the first to be handed over', () => engine.asked.length === 1)
    answerFirst()
    await untilTrue('all to be handed over', async () => {
      await engine.clock.advance(25)
      return engine.asked.length === 3
    })
    expect(engine.asked).toMatchObject(
      [entries.slice(0, 1), entries.slice(1, 65), entries.slice(65)].map((bundle) => ({
        params: { tx: base64(bundle) },
      })),
    )
    for (const bytes of entries) engine.order(bytes)
    await Promise.all(offered)
  })

  it('fails with the refusal of this member, and sends the engine nothing', async () => {
    const refusal = { code: 'LOG_FULL', message: 'no room' } as const
    await using engine = await setUp(
      () => taken,
      () => refusal,
    )
    await expect(engine.submission.submit(entry, 'alice')).rejects.toMatchObject(refusal)
    expect(engine.asked).toEqual([])
  })

  it.each<[string, Answer, string]>([
    ['an outdated refusal', { result: { code: 1, log: 'no' } }, 'DEPENDENCY_UNAVAILABLE'],
    ['a full engine', { error: { message: '', data: 'mempool is full: number' } }, 'OVERLOADED'],
    ['another error', { error: { message: 'broken' } }, 'DEPENDENCY_UNAVAILABLE'],
    ['no answer', 'nothing', 'DEPENDENCY_UNAVAILABLE'],
  ])('fails after %s', async (_, answer, code) => {
    await using engine = await setUp(() => answer)
    await expect(engine.submission.submit(entry, 'alice')).rejects.toMatchObject({ code })
  })

  it('one sender cannot occupy what may wait for a block', async () => {
    await using engine = await setUp(() => taken)
    const greedy = Array.from({ length: 2001 }, (_, index) =>
      engine.submission.submit(utf8(`entry ${index}`), 'greedy'),
    )
    for (const one of greedy) one.catch(() => {}) // They end with the test.
    await expect(greedy[2000]).rejects.toMatchObject({ code: 'OVERLOADED' })
    const modest = engine.submission.submit(entry, 'modest')
    engine.order(entry)
    await modest
  })

  it('one sender cannot occupy the bytes of what may wait for a block', async () => {
    await using engine = await setUp(() => taken)
    const large = Array.from({ length: 60 }, (_, index) => new Uint8Array(256 * 1024).fill(index))
    const greedy = large.map((bytes) => engine.submission.submit(bytes, 'greedy'))
    for (const one of greedy) one.catch(() => {}) // They end with the test.
    await expect(greedy[59]).rejects.toMatchObject({ code: 'OVERLOADED' })
    const modest = engine.submission.submit(entry, 'modest')
    engine.order(entry)
    await modest
  })

  it('fails with an unknown outcome if the entry is not ordered in time', async () => {
    await using engine = await setUp(() => taken)
    let isOver = false
    const offered = engine.submission.submit(entry, 'alice').finally(() => {
      isOver = true
    })
    offered.catch(() => {}) // Asserted below.
    await untilTrue('the wait to end', async () => {
      await engine.clock.advance(20_000)
      return isOver
    })
    await expect(offered).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
  })
})
