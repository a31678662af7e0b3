import { describe, expect, it } from 'vitest'
import {
  type AnchorReport,
  chooseAnchor,
  readAnchorReport,
  type SyncAnchor,
} from './sync-anchors.ts'

const at = (height: number, digit = 'a'): SyncAnchor => ({ height, blockHash: digit.repeat(64) })
const member = (earliest: number, ...beginnings: SyncAnchor[]): AnchorReport => ({
  earliest,
  beginnings,
})

/** The anchor of one of four members, by default without blocks of its own. */
function chosen(said: readonly AnchorReport[], height = 0, isStranded = false) {
  const byName = new Map(said.map((one, index) => [`sv-${index + 1}`, one]))
  return chooseAnchor(byName, { height, set: { f: 1 }, isStranded })
}

describe('the sync anchor', () => {
  it('is the newest block that f + 1 members name', () => {
    expect(
      chosen([
        member(40, at(90), at(50)),
        member(45, at(50)),
        member(45, at(90, 'b'), at(50, 'b')),
      ]),
    ).toEqual({ ...at(50), members: ['sv-1', 'sv-2'] })
  })

  it('is newer than the head if the engine cannot apply the available next block', () => {
    const said = [member(1, at(50), at(40)), member(1, at(50), at(40))]
    expect(chosen(said, 45, true)).toMatchObject(at(50))
    expect(chosen(said, 50, true)).toBeNull()
    expect(chosen(said.slice(1), 45, true)).toBeNull()
  })

  it.each<[string, readonly AnchorReport[], number]>([
    ['fewer than f + 1 members lack the next block', [member(40, at(50)), member(1, at(50))], 0],
    ['the members have the next block', [member(40, at(50)), member(40, at(50))], 39],
    ['one member names it twice', [member(40, at(50), at(50)), member(40)], 0],
    ['it is not above the head', [member(40, at(30)), member(40, at(30))], 30],
    ['the members have no blocks', [member(0, at(50)), member(0, at(50))], 0],
    ['no member answers', [], 0],
  ])('is not chosen where %s', (_, said, height) => {
    expect(chosen(said, height)).toBeNull()
  })
})

it.each([
  [{ earliest: 3, beginnings: [at(5)] }, member(3, at(5))],
  [{ earliest: 3, beginnings: [at(7), at(6), at(5)] }, member(3, at(7), at(6))],
  [{ earliest: -1, beginnings: [] }, null],
  [{ earliest: 3 }, null],
  [{ earliest: 3, beginnings: [{ height: 5, blockHash: 'AB' }] }, null],
  [{ earliest: 3, beginnings: [null] }, null],
  [undefined, null],
])('reads an anchor report, or null if it is malformed: %j', (told, expected) => {
  expect(readAnchorReport(told)).toEqual(expected)
})
