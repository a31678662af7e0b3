import { createTestNetwork } from '@quorumscan/testkit'
import { parseGenesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'

const { genesis } = createTestNetwork()
type Document = Record<string, unknown>
const rename = (of: object, from: string, to: string): Document =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name === from ? to : name, value]))

it.each<[what: string, document: Document, message: string]>([
  [
    'at the top',
    rename(genesis, 'names', 'nams'),
    'genesis: "nams" is no member of this version, and it lacks "names"',
  ],
  [
    'of an object',
    { ...genesis, coin: rename(genesis.coin, 'priceUsd', 'priceUSD') },
    'coin: "priceUSD" is no member of this version, and it lacks "priceUsd"',
  ],
  [
    'of an item',
    { ...genesis, nodes: genesis.nodes.map((node) => rename(node, 'scanKey', 'scan_key')) },
    'nodes[0]: "scan_key" is no member of this version, and it lacks "scanKey"',
  ],
  [
    'that is one too many',
    { ...genesis, note: '' },
    'genesis: "note" is no member of this version',
  ],
])('a misspelt member %s is named', (_, document, message) => {
  expect(() => parseGenesis(document)).toThrow(`the genesis document is not valid at ${message}`)
})
