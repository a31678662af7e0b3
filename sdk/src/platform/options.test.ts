/** Clients refuse options that they do not have, and values out of a closed set, when they are made. */
import { expect, it } from 'vitest'
import { fakeNames, fakeValidator } from '../fakes.ts'
import { createResolver } from '../naming/resolver.ts'
import { createScan } from '../scan.ts'
import { createSpliceScan } from '../splice/splice-scan.ts'
import { createValidator } from '../validator.ts'

const scan = { seeds: ['https://scan.example'], genesis: '0'.repeat(64) }
const validator = { url: 'https://validator.example/api/validator' }
const splice = { seeds: ['https://scan.example'] }
const resolver = { network: 'localnet', resolvers: [] }
const fake = { party: `alice::1220${'a'.repeat(64)}` }
const make = {
  createScan: (more: object) => createScan({ ...scan, ...more }),
  createValidator: (more: object) => createValidator({ ...validator, ...more }),
  createSpliceScan: (more: object) => createSpliceScan({ ...splice, ...more }),
  createResolver: (more: object) => createResolver({ ...resolver, ...more } as never),
  fakeNames: (more: object) => fakeNames({}, more),
  fakeValidator: (more: object) => fakeValidator({ ...fake, ...more }),
}

it.each([
  ...['Proof', 'vote', null, '', 1, ['proof'], 'toString'].map((minBasis) => [
    'createResolver',
    { minBasis },
  ]),
  ['createResolver', { minbasis: 'proof' }],
  ['createResolver', { timeoutMs: '5' }],
  ['createScan', { threshold: 'Strong' }],
  ['createScan', { threshold: null }],
  ['createScan', { treshold: 'strong' }],
  ['createScan', { maxAgeMs: Number.NaN }],
  ['createScan', { seenNamesMax: -1 }],
  ['createScan', { allowPrivateAddresses: 'false' }],
  ['createScan', { trust: 'sv-1' }],
  ['createValidator', { genesys: '0'.repeat(64) }],
  ['createValidator', { timeoutMs: -1 }],
  ['createValidator', { store: 'localStorage' }],
  ['createSpliceScan', { threshold: '3f+1' }],
  ['createSpliceScan', { svCount: 0 }],
  ['fakeNames', { seenNamesMax: -1 }],
  ['fakeNames', { threshold: 'strong' }],
  ['fakeValidator', { coin: 100 }],
  ['fakeValidator', { coin: '-1' }],
  ['fakeValidator', { names: 'alice' }],
  ['fakeValidator', { store: 'localStorage' }],
  ['fakeValidator', { timeoutMs: '5' }],
  ['fakeValidator', { genesis: '0'.repeat(64) }],
] as [keyof typeof make, object][])('%s refuses %j, and names the option', (client, more) => {
  const [name = ''] = Object.keys(more)
  expect(() => make[client](more)).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(`\`${name}\``),
    }),
  )
})

it('calls of fakes refuse what they do not have', () => {
  const wallet = fakeValidator(fake)
  const sender = `bob::1220${'b'.repeat(64)}`
  const id = wallet.offer({ sender, coin: '1.0' })
  const error = expect.objectContaining({ code: 'INVALID_ARGUMENT' })
  for (const call of [
    () => fakeNames('alice' as never),
    () => fakeNames().fail('OFLINE' as never),
    () => wallet.names.fail('OFLINE' as never),
    () => wallet.fail({ how: 'lost', when: 'never' } as never),
    () => wallet.offer({ sender, coin: '1.0', expires: 'soon' } as never),
    () => wallet.answerOffer(id, 'withdraw' as never),
    () => wallet.another({ storage: {} } as never),
  ])
    expect(call).toThrow(error)
})

it.each(Object.keys(make) as (keyof typeof make)[])('%s takes undefined as a default', (client) => {
  expect(() => make[client]({ timeoutMs: undefined, clock: undefined })).not.toThrow()
})
