import { expect, it } from 'vitest'
import type { Genesis } from '../genesis/genesis.ts'
import { createAddressBook } from './address-book.ts'

const record = (sequence: number) => ({
  name: 'sv-1',
  url: `https://sv-1.example.com/${sequence}/`,
  sequence,
  signature: 'ab'.repeat(64),
})

function createBook() {
  const checks: ((isSigned: boolean) => void)[] = []
  const book = createAddressBook({
    genesis: { nodes: [{ name: 'sv-1', scanKey: 'cd'.repeat(32) }] } as unknown as Genesis,
    genesisHash: 'ef'.repeat(32),
    crypto: {
      sha256: async () => new Uint8Array(32),
      verifyEd25519: () => new Promise((resolve) => checks.push(resolve)),
    },
    allowPrivate: false,
  })
  return { book, checks }
}

it('an older record whose check takes longer does not replace a newer one', async () => {
  const { book, checks } = createBook()
  const [older, newer] = [book.offer([record(1)]), book.offer([record(2)])]
  checks[1]?.(true)
  expect(await newer).toEqual([{ name: 'sv-1', url: 'https://sv-1.example.com/2', sequence: 2 }])
  checks[0]?.(true)
  expect(await older).toEqual([])
  expect(book.records()).toEqual([record(2)])
})

it('a record that the node did not sign is not taken', async () => {
  const { book, checks } = createBook()
  const offered = book.offer([record(1)])
  checks[0]?.(false)
  expect(await offered).toEqual([])
  expect(book.records()).toEqual([])
})
