import { fromUtf8, utf8 } from '@quorumscan/base'
import { expect, it } from 'vitest'
import { roundsAnswer, rulesAnswer, sharedDsoAnswer } from './upstream-shapes.ts'

const decided = (body: object) => ({ answer: utf8(JSON.stringify(body)) })
const state = (id: string) => ({ contract: { contract_id: id }, domain_id: 'd' })

it('rules are returned without the wrapper for cached rules', () => {
  const answer = rulesAnswer(decided({ amulet_rules_update: state('00') }))
  expect(JSON.parse(fromUtf8(answer))).toEqual({ amulet_rules: state('00') })
})

it('rounds are returned as lists, in the order of the nodes', () => {
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

it('the answer of /v0/dso names the first agreeing node as its super-validator', () => {
  const shared = {
    dso_party_id: 'DSO::1220',
    dso_rules: {
      contract: { payload: { svs: [{ name: 'sv-2' }, { name: 'sv-1', party: 'p' }] } },
    },
  }
  const answer = sharedDsoAnswer({ ...decided(shared), agreed: ['sv-1', 'sv-3'] })
  expect(JSON.parse(fromUtf8(answer))).toEqual({ sv_user: 'sv-1', sv_party_id: 'p', ...shared })
})
