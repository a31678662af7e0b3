import type { Genesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { createAddressBook } from './address-book.ts'

const record = (sequence: number) => ({
  name: 'sv-1',
  url: `https://sv-1.example.com/${sequence}/`,
  sequence,
  signature: 'ab'.repeat(64),
})

function createBook() {
  const checks: ((isSigned: boolean) => void)[] = []
  const refused: unknown[] = []
  const book = createAddressBook({
    genesis: { nodes: [{ name: 'sv-1', scanKey: 'cd'.repeat(32) }] } as unknown as Genesis,
    genesisHash: 'ef'.repeat(32),
    crypto: {
      sha256: async () => new Uint8Array(32),
      verifyEd25519: () => new Promise((resolve) => checks.push(resolve)),
    },
    allowPrivate: false,
    onPrivate: (address) => refused.push(address),
  })
  return { book, checks, refused }
}

it('an older record whose check takes longer does not replace a newer one', async () => {
  const { book, checks } = createBook()
  const [older, newer] = [book.add([record(1)]), book.add([record(2)])]
  checks[1]?.(true)
  expect(await newer).toEqual([{ name: 'sv-1', url: 'https://sv-1.example.com/2', sequence: 2 }])
  checks[0]?.(true)
  expect(await older).toEqual([])
  expect(book.records()).toEqual([record(2)])
})

it('refuses a record that the node did not sign', async () => {
  const { book, checks } = createBook()
  const offered = book.add([record(1)])
  checks[0]?.(false)
  expect(await offered).toEqual([])
  expect(book.records()).toEqual([])
})

it('checks one record of a node in a list', async () => {
  const { book, checks } = createBook()
  const offered = book.add([record(1), record(2), record(3)])
  checks[0]?.(false)
  expect(await offered).toEqual([])
  expect(checks.length).toBe(1)
})

it('reports a private address once its node has signed it, and refuses it', async () => {
  const { book, checks, refused } = createBook()
  const atHome = (sequence: number) => ({ ...record(sequence), url: 'https://10.0.0.1/' })
  const forged = book.add([atHome(1)])
  checks[0]?.(false)
  expect(await forged).toEqual([])
  expect(refused).toEqual([])
  const signed = book.add([atHome(1)])
  checks[1]?.(true)
  expect(await signed).toEqual([])
  expect(refused).toEqual([{ name: 'sv-1', url: 'https://10.0.0.1', sequence: 1 }])
  // The older record is used, as the newer one was refused.
  const older = book.add([record(0)])
  checks[2]?.(true)
  expect(await older).toMatchObject([{ sequence: 0 }])
  expect(refused).toHaveLength(1)
})
