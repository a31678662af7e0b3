import { createKeyPair, utf8 } from '@quorumscan/base'
import type { CheckedEntry } from '@quorumscan/log'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createAdmission, refusedUnits } from './admission.ts'
import { createRateBudgets } from './budgets.ts'

const RATES = { anonymous: 50, peer: 500, superValidator: 25 }
const ANONYMOUS = { client: '192.0.2.1', isPeer: false }
const OTHER = { client: '192.0.2.2', isPeer: false }

/** An admission whose nodes admit each entry, and then say whether the state has refused it. */
function setUp(isRefused: boolean, { isLate = false } = {}) {
  const counted = { unjudged: 0, units: 0 }
  const clock = createManualClock()
  const asked: Uint8Array[] = []
  const checked = (): CheckedEntry => ({
    kind: 'entry',
    entryHash: '',
    participant: createKeyPair().publicKey,
    notAfter: clock.nowMicros() + 1_000_000,
    bytesUnits: 1,
    contractsUnits: 0,
    contractCounts: new Map(),
    adds: true,
    oversize: null,
  })
  const admission = createAdmission({
    log: {
      append: async () => {},
      head: () => ({ offset: 1, recordTime: clock.nowMicros() }),
      refusal: () => null,
    },
    checkEntry: Object.assign(checked, { withoutSignature: checked }),
    budgets: createRateBudgets({
      rates: RATES,
      stateBytesPerDay: 2 ** 30,
      operatorKeys: new Set(),
      clock,
    }),
    clock,
    room: { assertRoom: () => {}, note: () => {} },
    judge: {
      before: async () => ({ refusal: null, growth: isLate ? null : 0, isLate }),
      async wasRefused(bytes) {
        asked.push(bytes)
        return isRefused
      },
    },
    count: {
      unjudged: () => counted.unjudged++,
      refusedUnits: (units) => {
        counted.units += units
      },
    },
  })
  return { clock, asked, counted, submit: admission.submit }
}

it('an entry that a race made refused costs its address the bytes that it leaves, afterwards', async () => {
  const { clock, submit } = setUp(true)
  const entry = new Uint8Array(5_000).fill(1)
  await submit(entry, ANONYMOUS)
  await untilTrue('the debt', () =>
    submit(utf8('another'), ANONYMOUS).then(
      () => false,
      ({ code }) => code === 'RATE_LIMITED',
    ),
  )
  // 5 units before and 85 afterwards, of 50 a second. The debt is of this address alone.
  expect(refusedUnits(entry.byteLength)).toBe(85)
  await submit(utf8('of another address'), OTHER)
  await clock.advance(2_000)
  await submit(utf8('later'), ANONYMOUS)
})

it('an entry that had an effect costs no more, nor does that of a peer', async () => {
  const { asked, submit } = setUp(false)
  for (let count = 0; count < 9; count++) await submit(new Uint8Array(5_000).fill(count), ANONYMOUS)
  expect(asked).toHaveLength(9)
  await setUp(true).submit(utf8('an entry'), { client: 'peer 1', isPeer: true })
})

it('so does one that was admitted because its judgement was late, and is counted', async () => {
  const { counted, submit } = setUp(true, { isLate: true })
  await submit(new Uint8Array(5_000).fill(1), ANONYMOUS)
  await untilTrue('the debt', () => counted.units > 0)
  expect(counted).toEqual({ unjudged: 1, units: 85 })
  const next = submit(utf8('another'), ANONYMOUS)
  await expect(next).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})
