/** Groups of a log as its synchronizer signs them, of one entry each; for tests. */
import { readFileSync } from 'node:fs'
import { keyPairFromSeed, utf8 } from '@quorumscan/base'
import { openGroup, type ProvenGroup, signGroup } from '@quorumscan/log'
import type { Genesis } from '@quorumscan/verifier'
import { hashGenesis, logGenesisOf } from '../genesis.ts'

/** Both offsets inclusive. */
export function signedGroups(
  options: { readonly keyFile: string; readonly genesis: Genesis },
  from: number,
  to: number,
): ProvenGroup[] {
  const { genesis } = options
  const keyPair = keyPairFromSeed(readFileSync(options.keyFile, 'utf8'))
  const genesisHash = hashGenesis(genesis)
  let previousHash = genesisHash
  const groups: ProvenGroup[] = []
  for (let offset = 1; offset <= to; offset++) {
    const entries = [{ recordTime: genesis.recordTime + offset, bytes: utf8(`entry ${offset}`) }]
    const group = { firstOffset: offset, previousHash, entries }
    const signed = signGroup(group, { genesisHash, keyPair })
    openGroup(signed, logGenesisOf(genesis))
    previousHash = signed.hash
    groups.push({ bytes: signed.bytes, signature: signed.signature })
  }
  return groups.slice(from - 1)
}

export async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}
