import { expect, it } from 'vitest'
import type { Http } from '../http/http.ts'
import type { FoundEntry } from '../names/lookup-types.ts'
import { parseParty } from '../platform/parse-party.ts'
import { parseContractId } from '../platform/values.ts'
import { listNames } from './own-names.ts'

const PARTY = parseParty(`alice::1220${'a'.repeat(64)}`)
const contractId = parseContractId(`00${'1'.repeat(64)}`)
const expiresAt = '2099-01-01T00:00:00.000000Z'
const shown = (name: string): FoundEntry => ({
  name,
  party: PARTY,
  url: '',
  description: '',
  contractId,
  expiresAt,
  changed: null,
  basis: 'proof',
  recordTime: '2026-11-22T10:00:00.000000Z',
  clockSkewMs: null,
})
const renewed = {
  contractId,
  name: 'b.unverified.ns',
  amount: '1.0000000000',
  unit: 'USDUnit',
  expiresAt: '4070908800000',
  paymentInterval: '1000',
  paymentDuration: '2000',
}

it('the list of names has those that run out, and none of the network', async () => {
  const http = {
    call: async () => ({ entries: [renewed], next_page_token: null }),
    timeLeft: () => () => 1000,
  } as unknown as Http
  const parts = (partyId: string) => ({
    http,
    wallet: { status: async () => ({ partyId }) as never },
    names: {
      async *namesOf() {
        yield shown('a.unverified.ns')
        yield shown('b.unverified.ns')
        yield { ...shown('sv-1.sv.ns'), contractId: null, expiresAt: null }
      },
    },
  })
  const names = await listNames(parts(PARTY))
  expect(names).toMatchObject([
    { name: 'b.unverified.ns', renews: true, paymentIntervalMs: 1, paymentDurationMs: 2 },
    { name: 'a.unverified.ns', renews: false, expiresAt },
  ])
  expect(await listNames(parts(''))).toHaveLength(1)
})
