import { CommandError } from '@quorumscan/runtime'
import { serve } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { readRules } from './confirm-rules.ts'
import { readProposals } from './proposals.ts'

it.each([
  ['rules', readRules, '{}', 'ans_rules_update'],
  ['rules', readRules, '{"ans_rules_update":{"contract":{"contract_id":7}}}', 'contract_id'],
  ['proposals', readProposals, '{"voting_threshold":3,"confirmations":{}}', 'confirmations'],
] as const)(
  'an answer for the %s that no scan node gives is an error that names the server and what is wrong',
  async (_, read, body, what) => {
    await using server = await serve((_request, response) => {
      response.setHeader('content-type', 'application/json').end(body)
    })
    const reading = read(server.url)
    await expect(reading).rejects.toThrow(CommandError)
    await expect(reading).rejects.toThrow(`${server.url}/`)
    await expect(reading).rejects.toThrow(what)
  },
)
