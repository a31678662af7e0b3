/** Whether the genesis of an operator is that of the others and of its data directory. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTestNetwork, serve } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { chainIdOf, type Genesis } from '@quorumscan/verifier'
import { expect } from 'vitest'
import { hashGenesis } from '../genesis.ts'
import { checkGenesis } from './genesis.ts'

const { genesis } = createTestNetwork()
const other: Genesis = { ...genesis, recordTime: genesis.recordTime + 1 }
const serveDocument = (document: unknown) =>
  serve((_, response) => response.end(JSON.stringify(document)))
/** A port of the system, on which no process listens. */
const SILENT = 'http://127.0.0.1:1'
const own = { genesis, name: 'sv-1' }

it('compares its genesis with those of the nodes, of which f + 1 decide', async () => {
  await using same = await serveDocument(genesis)
  await using different = await serveDocument(other)
  await using unready = await serveDocument({ code: 'NOT_READY' })
  const check = (...servers: readonly { readonly url: string }[]) => {
    const nodes = servers.map(({ url }, index) => ({ name: `sv-${index + 1}`, url }))
    return checkGenesis(nodes, own, { engineHomes: [], fetch })
  }
  const silent = { url: SILENT }
  expect(await check(silent, same, same, unready)).toMatchObject({
    state: 'ok',
    detail: '2 nodes answer, with the same',
  })
  const warned = await check(silent, different, same, silent)
  expect(warned.state).toBe('warning')
  const wrong = await check(silent, different, different, silent)
  expect(wrong).toMatchObject({ state: 'failed', isMisconfigured: true })
  expect(wrong.detail).toContain(`QS_GENESIS has the hash ${hashGenesis(genesis)} `)
  expect(wrong.detail).toContain(`sv-3 has ${hashGenesis(other)}`)
  expect(wrong.advice).toContain('Fetch the genesis from the other operators')
  // Its own node runs with another one.
  expect(await check(different, same, same, same)).toMatchObject({ isMisconfigured: true })
})

it('compares its genesis with the chain of its engine', async ({ directory }) => {
  const check = () =>
    checkGenesis([{ name: 'sv-2', url: SILENT }], own, { engineHomes: [directory], fetch })
  expect(await check()).toMatchObject({ state: 'ok' })
  mkdirSync(join(directory, 'config'))
  const store = (one: Genesis) => {
    const document = { chain_id: chainIdOf(hashGenesis(one)) }
    writeFileSync(join(directory, 'config/genesis.json'), JSON.stringify(document))
  }
  store(genesis)
  expect(await check()).toMatchObject({ state: 'ok' })
  store(other)
  expect(await check()).toMatchObject({
    isMisconfigured: true,
    detail: expect.stringContaining(`of the chain ${chainIdOf(hashGenesis(other))}`),
  })
})
