import { fromUtf8, utf8 } from '@quorumscan/base'
import type { Decided } from '@quorumscan/reader'
import { expect, it } from 'vitest'
import { roundsAnswer, rulesAnswer } from './coin-rules.ts'

const decided = (body: object) => ({ answer: utf8(JSON.stringify(body)) }) as unknown as Decided
const state = (id: string) => ({ contract: { contract_id: id }, domain_id: 'd' })

it('rules are told without the question whether they were cached', () => {
  const answer = rulesAnswer(decided({ amulet_rules_update: state('00') }))
  expect(JSON.parse(fromUtf8(answer))).toEqual({ amulet_rules: state('00') })
})

it('rounds are told as lists, in the order of the nodes', () => {
  const open = { '00b': state('00b'), '00a': state('00a') }
  const answer = roundsAnswer(
    decided({
      time_to_live_in_microseconds: 1,
      open_mining_rounds: open,
      issuing_mining_rounds: { '00c': state('00c') },
    }),
  )
  expect(JSON.parse(fromUtf8(answer))).toEqual({
    open_mining_rounds: [state('00b'), state('00a')],
    issuing_mining_rounds: [state('00c')],
  })
})
