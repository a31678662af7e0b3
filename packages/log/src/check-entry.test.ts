import { NEWEST_RULES, transferCommand } from '@quorumscan/ledger'
import { createEntrySigner } from '@quorumscan/ledger/testing'
import { createTestNetwork } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createEntryChecker } from './check-entry.ts'

const { genesisHash } = createTestNetwork()
const OLD = NEWEST_RULES
const NEW = { ...OLD, version: OLD.version + 1, contractsNamedMax: 2 }
const idOf = (index: number) => `00${String(index).padStart(64, '0')}`

const PARTY = `alice::1220${'00'.repeat(32)}`
/** The highest number of inputs of one transfer (`limits.ts` of the ledger). */
const INPUTS_MAX = 100

const sign = createEntrySigner(() => ({ genesis: genesisHash, notAfter: 60_000_000 }))

/** An entry that names so many contracts, of which the rules of coin are one. */
function entryOf(contractCount: number): Uint8Array {
  const ids = Array.from({ length: contractCount - 1 }, (_, index) => idOf(index + 1))
  const transfers = Array.from({ length: Math.ceil(ids.length / INPUTS_MAX) }, (_, index) =>
    transferCommand({
      coinRules: idOf(0),
      sender: PARTY,
      inputs: ids.slice(index * INPUTS_MAX, (index + 1) * INPUTS_MAX),
      outputs: [],
    }),
  )
  return sign({ actAs: [PARTY], commands: transfers })
}

it('refuses an entry that no known version allows, and counts contracts for each version', () => {
  const checkEntry = createEntryChecker(genesisHash, [OLD, NEW])
  const few = checkEntry(entryOf(2))
  expect(few).toMatchObject({ kind: 'entry', oversize: null })
  const some = checkEntry(entryOf(17))
  // Until a new version is in force, newer software accepts entries of the older one.
  expect(some).toMatchObject({ kind: 'entry', oversize: null, contractsUnits: 1 })
  const tooMany = checkEntry(entryOf(OLD.contractsNamedMax + 1))
  expect(tooMany).toMatchObject({ kind: 'entry', oversize: { code: 'LIMIT_EXCEEDED' } })
  const onlyNew = createEntryChecker(genesisHash, [NEW])
  expect(onlyNew(entryOf(17))).toMatchObject({ oversize: { code: 'LIMIT_EXCEEDED' } })
  const onlyOld = createEntryChecker(genesisHash, [OLD])
  for (const count of [2, 17]) {
    const [one, other] = [checkEntry, onlyOld].map((some) => some(entryOf(count)))
    if (one?.kind !== 'entry' || other?.kind !== 'entry') throw new Error('both are entries')
    expect(one.contractCounts.get(OLD.version)).toBe(other.contractCounts.get(OLD.version))
    expect(one.contractCounts.has(NEW.version)).toBe(true)
  }
})
