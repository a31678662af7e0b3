import { fromHex } from '@quorumscan/base'
import type { CometbftOrdering } from '@quorumscan/verifier'
import { CommitInfo } from 'cosmjs-types/tendermint/abci/types'
import { BlockIDFlag } from 'cosmjs-types/tendermint/types/validator'
import { expect, it } from 'vitest'
import { nodeIdOf } from './engine-files.ts'
import { describeStall, readLastCommit, reportOrdering } from './ordering-report.ts'

const validators = ['11', '22', '33', '44'].map((digits, index) => ({
  name: `sv-${index + 1}`,
  key: digits.repeat(32),
  nodeId: digits.repeat(20),
}))
// The report reads nothing else of the ordering.
const ordering = { validators } as unknown as CometbftOrdering

it('names the members whose votes were missed, and those that are connected', () => {
  const { BLOCK_ID_FLAG_COMMIT, BLOCK_ID_FLAG_ABSENT, BLOCK_ID_FLAG_NIL } = BlockIDFlag
  const flags = [
    BLOCK_ID_FLAG_COMMIT,
    BLOCK_ID_FLAG_ABSENT,
    BLOCK_ID_FLAG_NIL,
    BLOCK_ID_FLAG_COMMIT,
  ]
  const commit = CommitInfo.fromPartial({
    round: 2,
    votes: validators.map(({ key }, index) => ({
      validator: { address: fromHex(nodeIdOf(key)), power: 1n },
      blockIdFlag: flags[index] ?? BLOCK_ID_FLAG_ABSENT,
    })),
  })
  const connected = ['44'.repeat(20), '11'.repeat(20), '99'.repeat(20)]
  expect(
    reportOrdering({ ordering, height: 7, lastCommit: readLastCommit(commit), connected }),
  ).toEqual({ height: 7, round: 2, connected: ['sv-1', 'sv-4'], absent: ['sv-2'] })
})

it('has no missed votes before the first block vote arrives', () => {
  expect(reportOrdering({ ordering, height: 0, lastCommit: null, connected: [] })).toEqual({
    height: 0,
    round: null,
    connected: [],
    absent: [],
  })
})

it('counts only members when nothing is ordered, and not the engines of validators', () => {
  const connected = ['44'.repeat(20), '98'.repeat(20), '99'.repeat(20)]
  const report = reportOrdering({ ordering, height: 7, lastCommit: null, connected })
  expect(describeStall(ordering, report)).toBe(
    'nothing is ordered: of 4 members, this engine is connected to 1',
  )
})
