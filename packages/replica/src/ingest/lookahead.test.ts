import { submissionOf } from '@quorumscan/ledger/testing'
import type { Submission } from '@quorumscan/model'
import { expect, it } from 'vitest'
import { createLookahead } from './lookahead.ts'

const idOf = (number: number) => `00${number.toString(16).padStart(64, '0')}`
const PARTY = `alice::1220${'ab'.repeat(32)}`

function submissionNaming(first: number, count: number): Submission {
  const inputs = Array.from({ length: count }, (_, index) => idOf(first + index))
  return submissionOf({
    actAs: [PARTY],
    commands: [
      { kind: 'exercise', template: '', contractId: idOf(0), choice: '', argument: { inputs } },
    ],
  })
}

const lookaheadOver = (submissions: readonly Submission[]) =>
  createLookahead(submissions.map((submission) => ({ submission, needs: () => [] })))
const wanted = [{ kind: 'index', key: `context:${idOf(7)}` }] as const

it('a read by contract is also fetched for the contracts of the other entries', () => {
  const lookahead = lookaheadOver([submissionNaming(1, 1), submissionNaming(2, 1)])
  const keys = lookahead.alongWith(0, wanted).map((cell) => cell.kind === 'index' && cell.key)
  expect(keys).toEqual([0, 1, 2].map((number) => `context:${idOf(number)}`))
  expect(lookahead.alongWith(0, wanted)).toEqual([])
})

it('an entry that names thousands of contracts adds a few guesses, not thousands', () => {
  const submissions = Array.from({ length: 15 }, (_, index) => submissionNaming(index * 4000, 3500))
  expect(lookaheadOver(submissions).alongWith(0, wanted).length).toBeLessThanOrEqual(15 * 8)
})

it('guesses are bounded over a whole batch', () => {
  const submissions = Array.from({ length: 500 }, (_, index) => submissionNaming(index * 100, 100))
  const lookahead = lookaheadOver(submissions)
  const kinds = ['context', 'confirmations', 'reference', 'subscription', 'name']
  const count = kinds
    .map((kind) => lookahead.alongWith(0, [{ kind: 'index', key: `${kind}:${idOf(7)}` }]).length)
    .reduce((a, b) => a + b)
  expect(count).toBe(10_000)
})
