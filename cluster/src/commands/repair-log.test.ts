import type { RepairRefusal } from '@quorumscan/log'
import { describe, expect, it } from 'vitest'
import { reasonOf } from './repair-log.ts'

const logDirectory = '/data/redis/synchronizer'
const textOf = (refusal: RepairRefusal, isRunning = false) =>
  reasonOf(refusal, { logDirectory, isRunning })

describe('why a log was not repaired, and what to do', () => {
  it.each<readonly [string, RepairRefusal, string]>([
    [
      'too few nodes answer',
      { kind: 'too-few', silent: ['sv-2', 'sv-3'], needed: 3 },
      'sv-2 and sv-3 do not answer, and 3 nodes must. Start them, and try again; `quorumscan logs sv-2.redis` shows ' +
        'more. If its files are damaged, move /data/redis/sv-2 away: the node then answers without data.',
    ],
    [
      'the log differs from the one that nodes followed',
      { kind: 'another-log', nodes: ['sv-1', 'sv-2'] },
      'sv-1 and sv-2 followed another log than the one in /data/redis/synchronizer. Restore the right directory. If ' +
        'it is lost, move this one away, and try again: the log is then rebuilt if the nodes keep all of it.',
    ],
    [
      'only one node stores the damaged entries',
      { kind: 'not-stored', from: 3, to: 4, needed: 2, by: ['sv-1'], storedFrom: 1 },
      'offsets 3 to 4 cannot be refilled: 2 nodes must have stored the same groups there; only sv-1 stored any. ' +
        'Restore an undamaged copy of /data/redis/synchronizer. Do not wipe a replica before that.',
    ],
    [
      'no node stores entries that old',
      { kind: 'not-stored', from: 3, to: 3, needed: 2, by: [], storedFrom: 9 },
      'offset 3 cannot be refilled: 2 nodes must have stored the same groups there; no node stored any (oldest stored ' +
        'offset: 9). Restore an undamaged copy of /data/redis/synchronizer. Do not wipe a replica before that.',
    ],
    [
      'only one node applied the lost entries',
      { kind: 'applied', from: 7, to: 8, needed: 2, by: ['sv-1'] },
      'only sv-1 applied offsets 7 to 8, and 2 nodes must have them to refill them. Restore an undamaged copy of ' +
        '/data/redis/synchronizer. Do not wipe a replica before that. Or give them up: move /data/redis/sv-1 away, ' +
        'and try again.',
    ],
    [
      'only the validator applied the lost entries',
      { kind: 'applied', from: 7, to: 8, needed: 2, by: ['validator'] },
      'only validator applied offsets 7 to 8, and 2 nodes must have them to refill them. Restore an undamaged copy of ' +
        "/data/redis/synchronizer. Do not wipe a replica before that. Do not move the validator's directory away: it " +
        'also holds its users, which no node has.',
    ],
    [
      'two histories each have enough nodes',
      {
        kind: 'forked',
        at: 7,
        holders: [
          ['sv-1', 'sv-2'],
          ['sv-3', 'sv-4'],
        ],
      },
      'the synchronizer signed 2 groups at offset 7: sv-1 and sv-2 hold one, sv-3 and sv-4 hold another. Keep ' +
        'everything: it is evidence. Decide which history holds; then move the directories of the nodes with another ' +
        'one out of /data/redis, and try again.',
    ],
    [
      'it is unknown how much of a damaged end the validator applied',
      { kind: 'unknown-heads', silent: ['validator'] },
      'the end of the log could be cut off, but how much of it validator applied is unknown, because its Redis does ' +
        'not answer. Start it, and try again; `quorumscan logs validator.redis` shows more.',
    ],
  ])('%s', (_, refusal, text) => {
    expect(textOf(refusal)).toBe(text)
  })

  it('a cluster that runs is stopped before its directories are moved', () => {
    const away = textOf({ kind: 'applied', from: 7, to: 7, needed: 2, by: ['sv-1'] }, true)
    expect(away).toContain('Stop the cluster, restore an undamaged copy of')
    expect(away).toContain('give them up: stop the cluster, move /data/redis/sv-1 away')
  })
})
