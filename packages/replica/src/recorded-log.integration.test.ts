/** A replica applies the recorded logs (`test/vectors/record-log.ts`) with the recorded hashes and roots. */
import { KNOWN_RULES, svPartyOf } from '@quorumscan/ledger'
import { MemoryLedger, readRecordedLog } from '@quorumscan/ledger/testing'
import { expect, it } from 'vitest'
import { replay } from './testing/replay.ts'

it.for(KNOWN_RULES)('a replica reproduces the recorded log of version $version', async (rules) => {
  const log = readRecordedLog(rules.version)
  const ledger = new MemoryLedger(log)
  for (const { bytes, recordTime } of log.entries) ledger.append(bytes, recordTime)
  const svs = log.genesis.nodes.map((node) => ({ party: svPartyOf(node) }))
  const { hashes, roots } = await replay(
    { network: log, ledger, svs },
    { seed: 'recorded', faults: false },
  )
  expect(hashes).toEqual([log.genesisHash, ...log.entries.map(({ historyHash }) => historyHash)])
  const recorded = log.entries.flatMap(({ stateRoot }, index) =>
    stateRoot === null ? [] : [[index + 1, stateRoot]],
  )
  roots.delete(0) // It is not in the log.
  expect([...roots]).toEqual(recorded)
})
