/** The one submission of tests. */
import type { Submission } from '@quorumscan/model'
import { testKeyPair } from '@quorumscan/testkit'
import { encodeEntry } from '../entry.ts'

const NEUTRAL: Submission = {
  genesis: '00'.repeat(32),
  participant: '00'.repeat(32),
  id: '00'.repeat(16),
  notAfter: 0,
  userId: 'tester',
  actAs: [],
  readAs: [],
  commandId: 'command',
  submissionId: '',
  workflowId: '',
  deduplication: { kind: 'duration', micros: 0 },
  commands: [],
  disclosed: [],
}

/** Members that are left out have neutral values. */
export function submissionOf(members: Partial<Submission>): Submission {
  return { ...NEUTRAL, ...members }
}

/** Signs submissions, each with an id of its own. `defaults` is called for each of them. */
export function createEntrySigner(defaults: () => Partial<Submission>) {
  let count = 0
  return (changes: Partial<Submission> = {}, keyPair = testKeyPair('alice')): Uint8Array => {
    const id = String(++count).padStart(32, '0')
    const participant = keyPair.publicKey
    return encodeEntry(submissionOf({ ...defaults(), participant, id, ...changes }), keyPair)
  }
}
