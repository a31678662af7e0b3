import { createKeyPair, systemRandom } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { type AppliedEntry, changeIdOf, decodeEntry, type Head } from '@quorumscan/ledger'
import { type CompletionRecord, participantOfKey, type Submission } from '@quorumscan/model'
import { createManualClock, type ManualClock, until } from '@quorumscan/testkit'
import { itWithRedis } from '@quorumscan/testkit/fixtures'
import { openValidatorStore, PENDING_MAX, type ValidatorStore } from '@quorumscan/users'
import { expect } from 'vitest'
import { Dispatcher, type DispatchInput } from './dispatcher.ts'

const SECOND = 1_000_000
const START = createManualClock().nowMicros()
const genesisHash = 'ab'.repeat(32)
const keyPair = createKeyPair()
const party = `alice::${participantOfKey(keyPair.publicKey)}`
const input: DispatchInput = {
  userId: 'alice',
  actAs: [party],
  readAs: [],
  commandId: 'c',
  submissionId: 's',
  workflowId: '',
  deduplication: { kind: 'duration', micros: 0 },
  commands: [{ kind: 'create', template: '#a:b:C', argument: {} }],
  disclosed: [],
  notBefore: 0,
}

const it = itWithRedis
  .extend('redis', ({ durableRedis }) => durableRedis)
  .extend(
    'start',
    ({ redis }) =>
      async (
        log: ReturnType<typeof createLog>,
        {
          clock = createManualClock(),
          outboxOf = (outbox: Outbox): Outbox => outbox,
          mayAct = async () => true,
        }: {
          clock?: ManualClock
          outboxOf?: (outbox: Outbox) => Outbox
          mayAct?: (...asked: readonly unknown[]) => Promise<boolean>
        } = {},
      ) => {
        const store = await openValidatorStore({ redis: { path: redis.socketPath }, genesisHash })
        const dispatcher = await Dispatcher.create({
          outbox: outboxOf(store.outbox),
          ledger: log.ledger,
          ordering: log.ordering,
          genesisHash,
          keyPair,
          clock,
          random: systemRandom,
          mayAct,
          onProblem: () => {},
        })
        return {
          store,
          dispatcher,
          async [Symbol.asyncDispose]() {
            await dispatcher[Symbol.asyncDispose]()
            await store[Symbol.asyncDispose]()
          },
        }
      },
  )

/** A log that accepts each submission, and applies it when the test calls `apply`. */
function createLog() {
  let head: Head = { offset: 1, recordTime: START, historyHash: '', entryHash: '' }
  const listeners = new Set<(entry: AppliedEntry) => void>()
  const completions: CompletionRecord[] = []
  const offered: Uint8Array[] = []
  let isUp = true
  const move = (micros: number, entry: Pick<AppliedEntry, 'entryHash' | 'result'>) => {
    const next = { ...head, offset: head.offset + 1, recordTime: head.recordTime + micros }
    head = next
    const { result, entryHash } = entry
    if (result.kind === 'accepted') {
      const outcome = { kind: 'accepted' as const, updateId: result.update.updateId }
      completions.push({ ...next, entryHash, completion: result.completion, outcome })
    }
    for (const listener of listeners) listener({ ...next, ...entry, created: [], archived: [] })
  }
  return {
    offered,
    stop: () => {
      isUp = false
    },
    /** The submissions offered so far, in order, one for each of the same bytes. */
    submissions(): Submission[] {
      const texts = [...new Set(offered.map((bytes) => Buffer.from(bytes).toString('hex')))]
      return texts.map((text) => {
        const decoded = decodeEntry(new Uint8Array(Buffer.from(text, 'hex')), genesisHash)
        if (decoded.kind !== 'submission') throw new Error('a submission is offered')
        return decoded.submission
      })
    },
    checkpoint: (micros: number) => move(micros, { entryHash: '', result: { kind: 'checkpoint' } }),
    apply(submission: Submission, entryHash: string) {
      const { userId, actAs, commandId, submissionId, deduplication } = submission
      const completion = { userId, actAs, commandId, submissionId, deduplication }
      const update = { updateId: '1220', workflowId: '', events: [], allocated: [] }
      move(1, { entryHash, result: { kind: 'accepted', completion, update } })
    },
    ordering: {
      async submit(bytes: Uint8Array) {
        if (!isUp) throw new ScanError('DEPENDENCY_UNAVAILABLE', 'away')
        offered.push(bytes)
      },
    },
    ledger: {
      head: () => head,
      onApplied(listener: (entry: AppliedEntry) => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      completions: async ({ after, upTo }: { after: number; upTo: number }) =>
        completions.filter(({ offset }) => offset > after && offset <= upTo),
    },
  }
}

type Outbox = ValidatorStore['outbox']

const untilOffered = (log: ReturnType<typeof createLog>, count: number) =>
  until('the state', async () => (log.submissions().length >= count ? true : undefined))

it('a submission is sent again after a restart, with the same bytes, and ends once', async ({
  start,
}) => {
  const log = createLog()
  log.stop()
  {
    await using first = await start(log)
    await first.dispatcher.dispatch(input)
  }
  const resumed = createLog()
  await using second = await start(resumed)
  await untilOffered(resumed, 1)
  const [pending] = await second.store.outbox.list()
  expect(pending?.changeId).toBe(changeIdOf({ ...input, participant: keyPair.publicKey }))
  const [submission] = resumed.submissions()
  if (submission === undefined || pending === undefined) throw new Error('it is offered')
  resumed.apply(submission, pending.entryHash)
  await until('the state', async () =>
    (await second.store.outbox.list()).length === 0 ? true : undefined,
  )
})

it('a submission that took effect while the process was down is not sent again', async ({
  start,
}) => {
  const log = createLog()
  {
    await using first = await start(log)
    await first.dispatcher.dispatch(input)
    await untilOffered(log, 1)
    const [pending] = await first.store.outbox.list()
    await first.dispatcher[Symbol.asyncDispose]()
    log.apply(log.submissions()[0] as Submission, pending?.entryHash ?? '')
  }
  const before = log.offered.length
  await using second = await start(log)
  expect(await second.store.outbox.list()).toEqual([])
  expect(log.offered.length).toBe(before)
})

it('a change id has one submission in flight at a time', async ({ start }) => {
  const log = createLog()
  await using first = await start(log)
  const { outcome } = await first.dispatcher.dispatch(input)
  const again = { ...input, submissionId: 'other', actAs: [...input.actAs] }
  await expect(first.dispatcher.dispatch(again)).rejects.toMatchObject({
    code: 'SUBMISSION_ALREADY_IN_FLIGHT',
    context: { existing_submission_id: 's' },
    correlationId: 'other',
  })
  await first.dispatcher.dispatch({ ...input, commandId: 'another' })
  await untilOffered(log, 2)
  const [pending] = (await first.store.outbox.list()).filter(
    (one) => one.completion.commandId === 'c',
  )
  const submission = log.submissions().find(({ commandId }) => commandId === 'c') as Submission
  log.apply(submission, pending?.entryHash ?? '')
  // Submitted at once: the store may not have the outcome yet.
  await first.dispatcher.dispatch(again)
  expect(await outcome).toMatchObject({ offset: 2, outcome: { kind: 'accepted' } })
})

it('submissions above the limit are refused until others have an outcome', async ({ start }) => {
  const log = createLog()
  await using running = await start(log)
  const { dispatcher, store } = running
  const { outcome } = await dispatcher.dispatch(input)
  const [pending] = await store.outbox.list()
  if (pending === undefined) throw new Error('it is stored')
  // Sequential: of a thousand parallel commands some would exceed their time limit.
  for (let number = 1; number < PENDING_MAX; number++) {
    const own = { entryHash: `e-${number}`, changeId: `change-${number}` }
    expect(await store.outbox.add({ ...pending, ...own })).toEqual({ kind: 'added' })
  }
  const next = { ...input, commandId: 'next' }
  await expect(dispatcher.dispatch(next)).rejects.toMatchObject({
    code: 'PARTICIPANT_BACKPRESSURE',
    spec: { httpStatus: 409, category: 2 },
  })
  log.checkpoint(301 * SECOND)
  await outcome
  await dispatcher.dispatch(next)
})

it('delayed submissions of one user leave room for others, also after a restart', async ({
  start,
}) => {
  const log = createLog()
  const delayed = { ...input, notBefore: START + 100 * SECOND }
  {
    await using first = await start(log)
    for (let number = 0; number < PENDING_MAX / 5; number++)
      await first.dispatcher.dispatch({ ...delayed, commandId: `c-${number}` })
    await expect(first.dispatcher.dispatch(delayed)).rejects.toMatchObject({
      code: 'PARTICIPANT_BACKPRESSURE',
    })
    await first.dispatcher.dispatch({ ...input, userId: 'bob' })
  }
  await using second = await start(log)
  await expect(second.dispatcher.dispatch(delayed)).rejects.toMatchObject({
    code: 'PARTICIPANT_BACKPRESSURE',
  })
  await second.dispatcher.dispatch({ ...input, userId: 'carol' })
  // The outcomes of alice are known: they never got into the log.
  log.checkpoint(401 * SECOND)
  await until('room', async () =>
    second.dispatcher.dispatch(delayed).then(
      () => true,
      () => undefined,
    ),
  )
})

it('a submission waits for its minimum ledger time, also across a restart', async ({ start }) => {
  const log = createLog()
  {
    await using first = await start(log)
    await first.dispatcher.dispatch({ ...input, notBefore: START + 10 * SECOND })
    log.checkpoint(9 * SECOND)
  }
  await using second = await start(log)
  log.checkpoint(SECOND - 1)
  // A later submission with nothing to wait for overtakes it.
  await second.dispatcher.dispatch({ ...input, commandId: 'later' })
  await untilOffered(log, 1)
  expect(log.submissions().map(({ commandId }) => commandId)).toEqual(['later'])
  log.checkpoint(1)
  await untilOffered(log, 2)
  expect(log.submissions().map(({ commandId }) => commandId)).toEqual(['later', 'c'])
})

it('a delayed submission of a user who may no longer act is not sent, and is rejected', async ({
  start,
}) => {
  const log = createLog()
  let isAllowed = true
  const asked: (readonly unknown[])[] = []
  const mayAct = async (...rights: readonly unknown[]) => {
    asked.push(rights)
    return isAllowed
  }
  await using first = await start(log, { mayAct })
  const readAs = [party.replace('alice', 'bob')]
  const later = { ...input, readAs, notBefore: START + 10 * SECOND }
  const { outcome } = await first.dispatcher.dispatch(later)
  isAllowed = false
  log.checkpoint(11 * SECOND)
  // The rights are read after the entry was applied.
  await new Promise((resolve) => setImmediate(resolve))
  log.checkpoint(SECOND)
  expect(await outcome).toMatchObject({
    offset: 3,
    outcome: { kind: 'rejected', code: 'PERMISSION_DENIED' },
  })
  expect(log.submissions()).toEqual([])
  expect(asked.at(-1)).toEqual(['alice', [party], readAs])
})

it('a submission that may have been sent before is rejected only by the log', async ({ start }) => {
  const log = createLog()
  {
    await using first = await start(log)
    await first.dispatcher.dispatch(input)
    await untilOffered(log, 1)
  }
  const resumed = createLog()
  await using second = await start(resumed, { mayAct: async () => false })
  await new Promise((resolve) => setImmediate(resolve))
  resumed.checkpoint(SECOND)
  expect(await second.store.outbox.list()).toHaveLength(1)
  resumed.checkpoint(400 * SECOND)
  await until('the state', async () =>
    (await second.store.outbox.list()).length === 0 ? true : undefined,
  )
  expect(resumed.submissions()).toEqual([])
})

it('a submission that is not in the log in time ends with a completion, before and after a restart', async ({
  start,
}) => {
  const log = createLog()
  log.stop()
  {
    await using first = await start(log)
    const { outcome } = await first.dispatcher.dispatch(input)
    log.checkpoint(400 * SECOND)
    expect(await outcome).toMatchObject({
      offset: 2,
      outcome: { kind: 'rejected', code: 'NOT_SEQUENCED_TIMEOUT' },
    })
    await until('the state', async () =>
      first.dispatcher.settledOffset() === 2 ? true : undefined,
    )
    await first.dispatcher.dispatch({ ...input, submissionId: 'again' })
  }
  log.checkpoint(400 * SECOND)
  await using second = await start(log)
  const found = await second.store.outbox.expired({ after: 0, upTo: 9, limit: 9 })
  expect(found.map(({ offset, completion }) => [offset, completion.submissionId])).toEqual([
    [2, 's'],
    [3, 'again'],
  ])
  expect(await second.store.outbox.list()).toEqual([])
})

it('writes an outcome to the store again after half a second, and not before', async ({
  start,
}) => {
  const log = createLog()
  const clock = createManualClock()
  let tryCount = 0
  await using world = await start(log, {
    clock,
    outboxOf: (outbox) => ({
      ...outbox,
      complete: (pending, expired) => {
        tryCount += 1
        if (tryCount === 1) throw new Error('Redis is away')
        return outbox.complete(pending, expired)
      },
    }),
  })
  const { outcome } = await world.dispatcher.dispatch(input)
  log.checkpoint(400 * SECOND)
  await until('the first try', async () => (tryCount === 1 ? true : undefined))
  await clock.advance(499)
  expect(tryCount).toBe(1)
  await clock.advance(1)
  expect(tryCount).toBe(2)
  expect(await outcome).toMatchObject({ outcome: { kind: 'rejected' } })
})
