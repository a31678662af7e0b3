import { createKeyPair, utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { CheckedEntry } from '@quorumscan/log'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createAdmission, refusedUnits } from './admission.ts'
import { createRateBudgets } from './budgets.ts'

const RATES = { anonymous: 50, peer: 500, superValidator: 25 }
const ANONYMOUS = { client: '192.0.2.1', isPeer: false }
const OTHER = { client: '192.0.2.2', isPeer: false }

/** An admission whose nodes admit each entry, and then say whether the state has refused it. */
function setUp(
  isRefused: boolean,
  {
    isLate = false,
    growth = 0,
    growthOf = () => growth,
    stateBytesPerDay = 2 ** 30,
    contractsUnits = 0,
    assertRoom = (_: { readonly adds: boolean }): void => {},
  } = {},
) {
  const counted = { unjudged: 0, units: 0, noted: 0 }
  const clock = createManualClock()
  const asked: Uint8Array[] = []
  const checked = (): CheckedEntry => ({
    kind: 'entry',
    entryHash: '',
    participant: createKeyPair().publicKey,
    notAfter: clock.nowMicros() + 1_000_000,
    bytesUnits: 1,
    contractsUnits,
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
      stateBytesPerDay,
      operatorKeys: new Set(),
      clock,
    }),
    clock,
    room: {
      assertRoom,
      note: (bytes) => {
        counted.noted += bytes
      },
    },
    judge: {
      before: async () => ({ refusal: null, growth: isLate ? null : growthOf(), isLate }),
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
  expect(counted).toEqual({ unjudged: 1, units: 85, noted: 5_000 })
  const next = submit(utf8('another'), ANONYMOUS)
  await expect(next).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

/** How many of so many entries an address submits. The last one may be on credit. */
async function countAdmitted({ submit }: ReturnType<typeof setUp>, bytes: number, of = 60) {
  let admitted = 0
  for (let index = 0; index < of; index++)
    await submit(new Uint8Array(bytes).fill(index), ANONYMOUS).then(
      () => admitted++,
      (error: unknown) => expect(error).toMatchObject({ code: 'RATE_LIMITED' }),
    )
  return admitted
}

it('an address pays for the bytes of its entries, and for the contracts that they name', async () => {
  // An address has 50 units.
  expect(await countAdmitted(setUp(false), 10 * 1024)).toBe(5)
  expect(await countAdmitted(setUp(false, { contractsUnits: 9 }), 1)).toBe(5)
})

it('an address has a quarter of the bytes that anonymous ones add to the state in a day', async () => {
  const stateBytesPerDay = 4_000
  expect(await countAdmitted(setUp(false, { stateBytesPerDay, growth: 500 }), 1)).toBe(3)
  // What is not known counts as much as the entry.
  expect(await countAdmitted(setUp(false, { stateBytesPerDay, isLate: true }), 500)).toBe(3)
  // An entry that frees some has room, and is no credit for others.
  const judged = { growth: 500 }
  const freeing = setUp(false, { stateBytesPerDay, growthOf: () => judged.growth })
  expect(await countAdmitted(freeing, 1, 10)).toBe(3)
  judged.growth = -10_000
  await freeing.submit(utf8('it frees'), ANONYMOUS)
  judged.growth = 500
  expect(await countAdmitted(freeing, 2, 10)).toBe(0)
  const room = setUp(false, { stateBytesPerDay, growth: 500 })
  await room.submit(utf8('of a peer'), { client: 'peer 1', isPeer: true })
  expect(await countAdmitted(room, 1)).toBe(3)
})

it('an entry that finds no room is refused, by what it would add', async () => {
  const asked: boolean[] = []
  const full = setUp(false, {
    assertRoom({ adds }) {
      asked.push(adds)
      throw new ScanError('LOG_FULL', 'no room')
    },
  })
  await expect(full.submit(utf8('an entry'), ANONYMOUS)).rejects.toMatchObject({ code: 'LOG_FULL' })
  expect([asked, full.counted.noted]).toEqual([[true], 0])
})
