/**
 * Members of upstream's ledger interface that are refused here (test/upstream): 400, and without them a success.
 *
 * @module-tag rest
 */

import { readFileSync } from 'node:fs'
import type { HttpClient } from '@quorumscan/testkit'
import { memberOf, membersOf } from '@quorumscan/verifier'
import { describe, expect } from 'vitest'
import { itWithPeople } from '../testing/world-fixtures.ts'

type Row = { readonly member: string; readonly word?: string }
type Facts = {
  readonly operations: readonly { readonly operation: string; readonly members: readonly Row[] }[]
}
const file = new URL('../../../../test/upstream/ledger-api.json', import.meta.url)
const { operations } = JSON.parse(readFileSync(file, 'utf8')) as Facts

const refused = operations.flatMap(({ operation, members }) => {
  const names = members.filter(({ word }) => word === 'refused').map(({ member }) => member)
  // What is below a refused member needs no case of its own.
  const top = names.filter((name) => !names.some((above) => name.startsWith(`${above}.`)))
  return top.map((member) => [operation, member] as const)
})

const SOMEBODY = { value: { party: `a::1220${'0'.repeat(64)}` } }
/** By the last step of the path. */
const VALUES: Readonly<Record<string, unknown>> = {
  CanExecuteAs: SOMEBODY,
  IdentityProviderAdmin: { value: {} },
  ExerciseByKeyCommand: {
    templateId: '#quorumscan-coin:Coin.Rules:CoinRules',
    contractKey: {},
    choice: 'Archive',
    choiceArgument: {},
  },
  resourceVersion: '0',
  streamContinuationToken: 'x',
  primaryPartyAuthentication: true,
  identityProviderId: 'idp',
  sourceIdentityProviderId: 'idp',
  targetIdentityProviderId: 'idp',
  'identity-provider-id': 'idp',
}

/** The JSON with a value at a path. A variant takes the place of the other one. */
function withValue(json: unknown, steps: readonly string[], value: unknown): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return value
  if (step.endsWith('[]')) {
    const name = step.slice(0, -2)
    return { ...membersOf(json), [name]: [withValue(memberOf(json, name, '0'), rest, value)] }
  }
  const member = withValue(membersOf(json)[step], rest, value)
  return /^[A-Z]/.test(step) ? { [step]: member } : { ...membersOf(json), [step]: member }
}

type Request = { readonly path: string; readonly body?: object }

const it = itWithPeople.extend(
  'requestOf',
  ({ alice, admin, contracts }) =>
    async (operation: string, id: string): Promise<Request> => {
      const { party } = alice
      const rights = [{ kind: { CanReadAsAnyParty: { value: {} } } }]
      const commands = { ...contracts.tapRequest(party), commandId: id }
      const mask = (path: string) => ({ updateMask: { paths: [path] } })
      const end = (await admin.get('/v2/state/ledger-end')).body.offset
      const eventFormat = { filtersByParty: { [party]: {} } }
      const requests: Readonly<Record<string, Request>> = {
        'GET /v2/authenticated-user': { path: '/v2/authenticated-user' },
        'GET /v2/parties': { path: '/v2/parties' },
        'GET /v2/parties/{}': { path: `/v2/parties/${party}` },
        'GET /v2/state/connected-synchronizers': { path: '/v2/state/connected-synchronizers' },
        'GET /v2/users/{}': { path: '/v2/users/alice' },
        'PATCH /v2/parties/{}': {
          path: `/v2/parties/${party}`,
          body: { partyDetails: {}, ...mask('local_metadata') },
        },
        'PATCH /v2/users/{}': { path: '/v2/users/alice', body: { user: {}, ...mask('metadata') } },
        'PATCH /v2/users/{}/identity-provider-id': {
          path: '/v2/users/alice/identity-provider-id',
          body: {},
        },
        'PATCH /v2/users/{}/rights': { path: '/v2/users/alice/rights', body: { rights } },
        'POST /v2/users/{}/rights': { path: '/v2/users/alice/rights', body: { rights } },
        'POST /v2/commands/async/submit': { path: '/v2/commands/async/submit', body: commands },
        'POST /v2/commands/submit-and-wait': {
          path: '/v2/commands/submit-and-wait',
          body: commands,
        },
        'POST /v2/commands/submit-and-wait-for-transaction': {
          path: '/v2/commands/submit-and-wait-for-transaction',
          body: { commands },
        },
        'POST /v2/commands/submit-and-wait-for-transaction-tree': {
          path: '/v2/commands/submit-and-wait-for-transaction-tree',
          body: commands,
        },
        'POST /v2/parties': { path: '/v2/parties', body: { partyIdHint: id } },
        'POST /v2/state/active-contracts': {
          path: '/v2/state/active-contracts',
          body: { activeAtOffset: end, eventFormat },
        },
        'POST /v2/users': { path: '/v2/users', body: { user: { id }, rights } },
      }
      const request = requests[operation]
      if (request === undefined) throw new Error(`${operation} has no request in this test`)
      return request
    },
)

describe('a member that upstream publishes and that is refused here', () => {
  it('has a case for each', () => {
    expect(refused.length).toBeGreaterThan(20)
  })

  it.for(refused)('%s, %s', async ([operation, member], { requestOf, admin, alice }) => {
    const [method = ''] = operation.split(' ')
    const asUser = /commands|active-contracts/.test(operation)
    const client: HttpClient = asUser ? alice.client : admin
    const send = ({ path, body }: Request) => client.send(method, path, body)
    const id = `m-${refused.findIndex(([one, other]) => one === operation && other === member)}`
    const request = await requestOf(operation, id)
    const [place = '', path = ''] = member.split(' ')
    const steps = path.split('.')
    const value = VALUES[steps.at(-1) ?? '']
    if (value === undefined) throw new Error(`${member} has no value in this test`)
    const asked =
      place === 'query'
        ? { ...request, path: `${request.path}?${path}=${String(value)}` }
        : { ...request, body: withValue(request.body, steps, value) as object }
    expect(await send(asked)).toAnswer(400)
    expect(await send(request)).toAnswer(200)
  })
})

describe('a member that upstream publishes and that few clients send', () => {
  it('parties: the details of further parties, without those that are unknown', async ({
    admin,
    alice,
    bob,
  }) => {
    const unknown = `nobody::${alice.party.split('::')[1]}`
    const query = [bob.party, unknown, alice.party].map((party) => `parties=${party}`).join('&')
    const partiesOf = async (path: string) => {
      const { body } = await admin.get(path)
      return body.partyDetails.map(({ party }: { party: string }) => party)
    }
    expect(await partiesOf(`/v2/parties/${alice.party}?${query}`)).toEqual([alice.party, bob.party])
    expect(await partiesOf(`/v2/parties/${unknown}?parties=${bob.party}`)).toEqual([bob.party])
    expect(await admin.get(`/v2/parties/${alice.party}?parties=%20~`)).toAnswer(400)
  })

  it('requestingParties: the transaction as these parties see it', async ({
    alice,
    bob,
    contracts,
  }) => {
    const { updateId } = (
      await alice.client.post('/v2/commands/submit-and-wait', contracts.tapRequest(alice.party))
    ).body
    const read = (more: object) =>
      alice.client.post('/v2/updates/transaction-by-id', { updateId, ...more })
    const eventFormat = { filtersByParty: { [alice.party]: {} }, verbose: true }
    const transactionFormat = { transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA', eventFormat }
    const answer = await read({ requestingParties: [alice.party] })
    expect(answer).toAnswer(200)
    expect(answer.body).toEqual((await read({ transactionFormat })).body)
    expect(await read({ requestingParties: [bob.party] })).toAnswer(403)
    expect(await read({ requestingParties: [alice.party], transactionFormat })).toAnswer(400)
    expect(await read({})).toAnswer(400)
  })

  it('participantId of connected synchronizers: this participant, and no other', async ({
    admin,
  }) => {
    const { participantId } = (await admin.get('/v2/parties/participant-id')).body
    const read = (id: string) =>
      admin.get(`/v2/state/connected-synchronizers?participantId=${encodeURIComponent(id)}`)
    expect(await read(participantId)).toAnswer(200)
    expect(await read('')).toAnswer(200)
    expect(await read('participant::1220ab')).toAnswer(400)
  })
})
