/**
 * Reads that clients of the upstream network make of any scan, from a node and through the scan proxy.
 *
 * @module-tag rest
 */
import { createHttpClient, type HttpAnswer } from '@quorumscan/testkit'
import { describe, expect } from 'vitest'
import { itInWorld } from '../testing/world-fixtures.ts'

const it = itInWorld
  .extend('node', ({ world }) => createHttpClient(world.network.config.seeds[0] ?? '', null))
  .extend('proxy', ({ world }) => createHttpClient(world.url, null))

const METADATA = '/registry/metadata/v1'
const PROXY = '/v0/scan-proxy'
const outcome = ({ status, body }: HttpAnswer) => `${status} ${body.code ?? ''}`.trim()

describe('the registry of tokens', () => {
  it('has the coin, by the id that holdings name', async ({ node, world }) => {
    const apis = { 'splice-api-token-metadata-v1': 1 }
    const { dso } = world.network.genesis
    const info = await node.get(`${METADATA}/info`)
    expect(info.body).toEqual({ adminId: dso, supportedApis: apis })
    const { instruments } = (await node.get(`${METADATA}/instruments?pageSize=5`)).body
    expect(instruments).toMatchObject([{ id: 'Coin', symbol: 'COIN', decimals: 10 }])
    expect((await node.get(`${METADATA}/instruments/Coin`)).body).toEqual(instruments[0])

    const { client, party } = await world.registered('holder')
    const value = {
      interfaceId: '#quorumscan-coin:Coin.Holding:Holding',
      includeInterfaceView: true,
    }
    const answer = await client.post('/v2/state/active-contracts-page', {
      eventFormat: {
        filtersByParty: {
          [party]: { cumulative: [{ identifierFilter: { InterfaceFilter: { value } } }] },
        },
      },
    })
    const [held] = answer.body.activeContracts
    const [view] = held.contractEntry.JsActiveContract.createdEvent.interfaceViews
    expect(view.viewValue.instrumentId).toEqual({ admin: dso, id: instruments[0].id })
  })

  it('is below the second mount point as well, and behind the proxy', async ({ node, proxy }) => {
    for (const path of ['/info', '/instruments', '/instruments/Coin']) {
      const own = await node.get(`${METADATA}${path}`)
      expect(own).toAnswer(200)
      expect((await node.get(`/api/scan${METADATA}${path}`)).text).toBe(own.text)
      const voted = await proxy.get(`/api/validator${PROXY}${METADATA}${path}`)
      expect(voted.text).toBe(own.text)
      expect(voted.headers.get('x-quorum-agreed')).not.toBeNull()
    }
  })

  it('refuses instruments that it does not have, and pages that do not exist', async ({
    node,
    proxy,
  }) => {
    for (const [client, start] of [[node, METADATA] as const, [proxy, PROXY + METADATA] as const]) {
      const get = async (path: string) => outcome(await client.get(`${start}/instruments${path}`))
      expect(await get('/Amulet')).toBe('404 INSTRUMENT_NOT_FOUND')
      expect(await get('?pageSize=0')).toBe('400 INVALID_ARGUMENT')
      expect(await get('?pageSize=1001')).toBe('400 INVALID_ARGUMENT')
      expect(await get('?pageToken=Coin')).toBe('400 INVALID_ARGUMENT')
    }
  })
})

it('what this network has none of is empty, and its names are the same on every way', async ({
  node,
  proxy,
  world,
}) => {
  const { dso } = world.network.genesis
  const provider = encodeURIComponent(dso)
  const bodyOf = async (path: string) => (await node.get(path)).body
  expect(await bodyOf('/v0/feature-support')).toEqual({})
  expect(await bodyOf('/v0/closed-rounds')).toEqual({ rounds: [] })
  expect(await bodyOf('/v0/featured-apps')).toEqual({ featured_apps: [] })
  expect(await bodyOf(`/v0/featured-apps/by-provider/${provider}`)).toEqual({ featured_apps: [] })
  expect(await bodyOf(`/v0/featured-apps/by-contract-id/00${'0'.repeat(64)}`)).toEqual({})
  expect(await bodyOf(`/v0/featured-apps/${provider}`)).toEqual({})
  expect((await proxy.get(`${PROXY}/featured-apps/${provider}`)).body).toEqual({})
  expect(outcome(await node.get('/v0/featured-apps/alice'))).toBe('400 INVALID_PARTY')
  const names = await node.get('/v0/splice-instance-names')
  expect(names.body).toMatchObject({ amulet_name: 'Coin', name_service_name_acronym: 'NS' })
  expect((await proxy.get(`${PROXY}/splice-instance-names`)).text).toBe(names.text)
})
