/** A client process that reads from several nodes, with our reader or a minimal client. */
import { createSystemClock } from '@quorumscan/base'
import { isDecided } from '@quorumscan/reader'
import { createReader } from '@quorumscan/reader/voted'
import { createUndiciTransport } from '@quorumscan/runtime'
import { type Genesis, hashGenesis } from '@quorumscan/verifier'
import { again, childArgument } from '../../support/child.ts'
import { measureReads, type Read, type ReadsArgument } from '../../support/client-loop.ts'

export type ClientArgument = ReadsArgument & {
  readonly kind: 'reader' | 'fetch'
  /** Only for the reader. */
  readonly genesis: Genesis | null
}

const { kind, urls, names, concurrency, ms, genesis } = childArgument<ClientArgument>()

const clients: Readonly<Record<ClientArgument['kind'], () => Promise<Read>>> = {
  async reader() {
    if (genesis === null) throw new Error('the reader needs a genesis')
    const reader = createReader({
      genesis,
      genesisHash: await hashGenesis(genesis),
      seeds: urls,
      transport: createUndiciTransport(),
      clock: createSystemClock(),
      allowPrivateAddresses: true,
    })
    return async (name) => (await reader.lookup([{ name }])).every(isDecided)
  },

  /** A minimal quorum over fetch: it reads all nodes, and returns the first text that two nodes have sent. */
  async fetch() {
    return (name) =>
      new Promise((resolve, reject) => {
        const votes = new Map<string, number>()
        let left = urls.length
        const vote = async (url: string) => {
          const text = await (await fetch(`${url}/v0/ans-entries/by-name/${name}`)).text()
          votes.set(text, (votes.get(text) ?? 0) + 1)
          if (votes.get(text) === 2) resolve(true)
        }
        const onEnd = () => {
          if (--left === 0) reject(new Error('no two agree'))
        }
        for (const url of urls) vote(url).then(onEnd, onEnd)
      })
  },
}

const read = await clients[kind]()
const isReader = kind === 'reader'
await again({}, () => measureReads(read, { names, concurrency, ms }, { countsFailures: isReader }))
