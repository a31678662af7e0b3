import { systemRandom } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { type AppliedEntry, allocatePartyCommand, decodeEntry } from '@quorumscan/ledger'
import { MemoryLedger } from '@quorumscan/ledger/testing'
import { type Command, partyIdOf } from '@quorumscan/model'
import { createManualClock, createTestNetwork, testKeyPair, untilTrue } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { createGrowthShares } from './growth-shares.ts'
import type { SubmitInput } from './submission.ts'
import { createCheckedSubmitter, createSubmitter } from './submitter.ts'

const SECOND = 1_000_000
const keyPair = testKeyPair('alice')
const never = new AbortController().signal
const allocate = (hint = 'alice'): SubmitInput => ({
  userId: 'alice',
  actAs: [],
  commands: [allocatePartyCommand({ hint })],
})

/** A submitter with a ledger in memory. The test appends the offered entries to the log. */
function setUp(answers: (() => Promise<void>)[] = []) {
  const signatures = { count: 0 }
  const sign: typeof keyPair.sign = (bytes) => {
    signatures.count++
    return keyPair.sign(bytes)
  }

  const network = createTestNetwork()
  const memory = new MemoryLedger(network)
  const clock = createManualClock(network.genesis.recordTime)
  const listeners = new Set<(entry: AppliedEntry) => void>()
  const offered: Uint8Array[] = []
  const submitter = createSubmitter({
    ordering: {
      submit: async (bytes) => {
        offered.push(bytes)
        await answers.shift()?.()
      },
    },
    ledger: {
      head: () => memory.head(),
      onApplied: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    genesisHash: network.genesisHash,
    keyPair: { ...keyPair, sign },
    clock,
    random: systemRandom,
  })
  const append = (bytes: Uint8Array, micros = 1) => {
    const entry = memory.append(bytes, memory.head().recordTime + micros)
    for (const listener of listeners) listener(entry)
    return entry
  }
  const submit = (input = allocate(), signal = never) => {
    const outcome = submitter.submit(input, { signal, timeoutMs: 10_000 })
    outcome.catch(() => {}) // Looked at later.
    return outcome
  }
  const first = () => {
    const [bytes] = offered
    if (bytes === undefined) throw new Error('nothing was offered')
    return bytes
  }
  return {
    network,
    memory,
    clock,
    signatures,
    offered,
    listeners,
    append,
    submit,
    submitter,
    first,
  }
}

const failing = (code: ConstructorParameters<typeof ScanError>[0]) => () =>
  Promise.reject(new ScanError(code, 'as the test wants'))

describe('submitting', () => {
  it('returns the outcome of the entry once the local replica has applied it', async () => {
    const { append, submit, first, listeners } = setUp()
    const outcome = submit()
    append(new Uint8Array())
    const applied = append(first())
    expect(applied.result.kind).toBe('accepted')
    expect(await outcome).toEqual({
      offset: 2,
      recordTime: applied.recordTime,
      update: applied.result.kind === 'accepted' && applied.result.update,
    })
    expect(listeners.size).toBe(0)
  })

  it('is not tried again for a user who lost the right meanwhile, unless it may be in the log', async () => {
    for (const [answer, offers, code] of [
      ['RATE_LIMITED', 1, 'PERMISSION_DENIED'],
      ['DEPENDENCY_UNAVAILABLE', 2, 'SUBMISSION_UNKNOWN'],
    ] as const) {
      const { submitter, clock, offered } = setUp([failing(answer)])
      let may = true
      const isAllowed = async () => may
      const outcome = submitter.submit(allocate(), { signal: never, timeoutMs: 10_000, isAllowed })
      const failed = expect(outcome).rejects.toMatchObject({ code })
      await untilTrue('an offer', () => offered.length === 1)
      may = false
      for (let step = 0; step < 11; step++) await clock.advance(1000)
      await failed
      expect(offered).toHaveLength(offers)
    }
  })

  it('is not tried for a user whose rights cannot be read, and not later if they are gone', async () => {
    const { submitter, clock, offered } = setUp()
    let count = 0
    const isAllowed = async () => {
      if (count++ === 0) throw new ScanError('DEPENDENCY_UNAVAILABLE', 'Redis is down')
      return false
    }
    const outcome = submitter.submit(allocate(), { signal: never, timeoutMs: 10_000, isAllowed })
    const failed = expect(outcome).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    await untilTrue('the rights to be asked for', () => count === 1)
    for (let step = 0; step < 11; step++) await clock.advance(1000)
    await failed
    expect(offered).toHaveLength(0)
  })

  it('one user cannot occupy what may wait for its outcome', async () => {
    const { submit, offered, signatures } = setUp()
    const greedy = Array.from({ length: 201 }, (_, index) =>
      submit({ ...allocate(`hint-${index}`), userId: 'greedy' }),
    )
    await expect(greedy[200]).rejects.toMatchObject({ code: 'OVERLOADED' })
    expect(signatures.count).toBe(200)
    void submit()
    expect(offered).toHaveLength(201)
  })

  it('one user cannot occupy the bytes of what may wait for its outcome', async () => {
    const { submit, offered, signatures } = setUp()
    const actAs = [partyIdOf('alice', keyPair.publicKey) ?? '']
    const command: Command = {
      kind: 'exercise',
      template: '#quorumscan-coin:Coin.Rules:CoinRules',
      contractId: `00${'0'.repeat(64)}`,
      choice: 'CoinRules_Transfer',
      argument: { x: 'y'.repeat(200_000) },
    }
    const greedy = Array.from({ length: 70 }, () =>
      submit({ userId: 'greedy', actAs, commands: [command] }),
    )
    await expect(greedy[69]).rejects.toMatchObject({ code: 'OVERLOADED' })
    expect(signatures.count).toBe(offered.length)
    void submit()
  })

  it('fails with the code of the ledger, definitely', async () => {
    const { append, submit, first, memory } = setUp()
    memory.submit({ keyPair, commands: [allocatePartyCommand({ hint: 'alice' })] })
    const outcome = submit()
    append(first())
    await expect(outcome).rejects.toMatchObject({
      code: 'CHOICE_REFUSED',
      message: expect.stringContaining('is allocated already'),
      spec: { definite: true },
    })
  })

  it('offers the same bytes until one offer is accepted, and not again', async () => {
    const lost = failing('DEPENDENCY_UNAVAILABLE')
    const { append, submit, clock, offered, first } = setUp([lost, failing('RATE_LIMITED'), lost])
    const outcome = submit()
    for (let step = 0; step < 9; step++) await clock.advance(1000)
    expect(offered).toHaveLength(4)
    expect(new Set(offered.map((bytes) => Buffer.from(bytes).toString('hex'))).size).toBe(1)
    append(first())
    // The lost offers got through after all: they change nothing.
    append(first())
    expect(await outcome).toMatchObject({ offset: 1 })
  })

  it('submits again when an attempt is not answered', async () => {
    const { append, submit, clock, offered, first } = setUp([() => new Promise(() => {})])
    const outcome = submit()
    await clock.advance(5000)
    await clock.advance(100)
    expect(offered).toHaveLength(2)
    append(first())
    await outcome
  })

  it('has an unknown outcome if its entry is not seen in time', async () => {
    const { submit, clock, listeners } = setUp()
    const outcome = submit()
    await clock.advance(10_000)
    await expect(outcome).rejects.toMatchObject({
      code: 'SUBMISSION_UNKNOWN',
      spec: { definite: false },
    })
    expect(listeners.size).toBe(0)
  })

  it('expires without effect once record time passes notAfter', async () => {
    const { submit, append } = setUp()
    const outcome = submit()
    append(new Uint8Array(), 10 * SECOND)
    append(new Uint8Array(), 1)
    await expect(outcome).rejects.toMatchObject({
      code: 'SUBMISSION_EXPIRED',
      spec: { definite: true },
    })
  })

  it('succeeds at the last moment before it expires', async () => {
    const { submit, append, first } = setUp()
    const outcome = submit()
    append(new Uint8Array(), 10 * SECOND - 1)
    append(first(), 1)
    await expect(outcome).resolves.toMatchObject({ offset: 2 })
  })

  it('fails with a permanent refusal', async () => {
    const { submit } = setUp([failing('INVALID_ARGUMENT')])
    await expect(submit()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('has an unknown outcome if it is refused after a lost answer', async () => {
    const { submit, clock } = setUp([
      failing('DEPENDENCY_UNAVAILABLE'),
      ...Array(20).fill(failing('INVALID_ARGUMENT')),
    ])
    const outcome = submit()
    for (let step = 0; step < 10; step++) await clock.advance(1000)
    await expect(outcome).rejects.toMatchObject({ code: 'SUBMISSION_UNKNOWN' })
  })

  it('fails with the refusal when all offers were refused', async () => {
    const { submit, clock } = setUp(Array(20).fill(failing('RATE_LIMITED')))
    const outcome = submit()
    for (let step = 0; step < 10; step++) await clock.advance(1000)
    await expect(outcome).rejects.toMatchObject({ code: 'RATE_LIMITED', spec: { definite: true } })
  })

  it('ends when its signal aborts, with an unknown outcome', async () => {
    const { submit, listeners } = setUp()
    const stop = new AbortController()
    const outcome = submit(allocate(), stop.signal)
    stop.abort()
    await expect(outcome).rejects.toMatchObject({ code: 'SUBMISSION_UNKNOWN' })
    expect(listeners.size).toBe(0)
  })

  it('signs a time that the log can accept, also if the local clock lags', async () => {
    const { submit, memory, network, first } = setUp()
    memory.advance(3600 * SECOND)
    submit().catch(() => {})
    const decoded = decodeEntry(first(), network.genesisHash)
    expect(decoded.kind === 'submission' && decoded.submission.notAfter).toBe(
      memory.head().recordTime + 10 * SECOND,
    )
  })

  it('deduplicates a given command id by default, and not a random one', async () => {
    const { submit, network, offered } = setUp()
    submit({ ...allocate(), commandId: 'mine' }).catch(() => {})
    submit().catch(() => {})
    const guards = offered.map((bytes) => {
      const decoded = decodeEntry(bytes, network.genesisHash)
      return decoded.kind === 'submission' && decoded.submission.deduplication
    })
    expect(guards).toEqual([
      { kind: 'duration', micros: 600 * SECOND },
      { kind: 'duration', micros: 0 },
    ])
  })

  it('refuses a command that cannot be encoded', async () => {
    const { submit, offered } = setUp()
    const outcome = submit({ ...allocate(), commandId: 'no\u0000good' })
    await expect(outcome).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(offered).toEqual([])
  })

  it('serves many at once, each with its own outcome', async () => {
    const { submit, append, offered } = setUp()
    const outcomes = ['a', 'b', 'c'].map((hint) => submit(allocate(hint)))
    for (const bytes of offered.toReversed()) append(bytes)
    const offsets = (await Promise.all(outcomes)).map(({ offset }) => offset)
    expect(offsets).toEqual([3, 2, 1])
  })
})

describe('submitting what adds to the state', () => {
  /** A user has 500 bytes of the day. Each submission adds so many, and ends so. */
  function setUpChecked(growth: number, submit: () => Promise<never>) {
    const network = createTestNetwork()
    const memory = new MemoryLedger(network)
    const clock = createManualClock(network.genesis.recordTime)
    const result = memory.submit({ keyPair, commands: [allocatePartyCommand({ hint: 'alice' })] })
    return createCheckedSubmitter({
      ledger: {
        head: () => memory.head(),
        dryRun: async () => ({ result, growth }),
      },
      submitter: { submit },
      genesisHash: network.genesisHash,
      participant: keyPair.publicKey,
      deduplicationMicros: SECOND,
      growth: createGrowthShares({ bytesPerDay: 1000, clock }),
      clock,
      random: systemRandom,
      assertLive: () => {},
    })
  }
  const codesOf = async ({ submit }: ReturnType<typeof setUpChecked>, input: SubmitInput) => {
    const codes: string[] = []
    for (let count = 0; count < 3; count++)
      codes.push(await submit(input, never).then(String, ({ code }) => code))
    return codes
  }

  it('uses up the share of its user, unless it certainly had no effect', async () => {
    for (const [code, third] of [
      ['SUBMISSION_UNKNOWN', 'LIMIT_EXCEEDED'],
      ['SUBMISSION_EXPIRED', 'SUBMISSION_EXPIRED'],
    ] as const)
      expect(await codesOf(setUpChecked(250, failing(code)), allocate())).toEqual([
        code,
        code,
        third,
      ])
  })

  it('is never refused for an archival', async () => {
    const archival = {
      kind: 'exercise',
      template: '#quorumscan-coin:Coin:Coin',
      contractId: `00${'ab'.repeat(32)}`,
      choice: 'Archive',
      argument: {},
    } as const
    const input = { ...allocate(), commands: [archival] }
    const code = 'SUBMISSION_UNKNOWN'
    expect(await codesOf(setUpChecked(501, failing(code)), input)).toEqual([code, code, code])
  })
})
