/** A client process that looks names up at the nodes, with the SDK or without verification. */

import { createScan } from '@quorumscan/sdk'
import type { Genesis } from '@quorumscan/verifier'
import { again, childArgument } from '../../support/child.ts'
import { measureLoad } from '../../support/load.ts'

export type SdkArgument = {
  readonly kind: 'resolve' | 'fetch'
  readonly url: string
  readonly names: readonly string[]
  /** Concurrent lookups. */
  readonly connections: number
  readonly ms: number
  readonly genesis: Genesis
}

const argument = childArgument<SdkArgument>()
const { kind, url, names, genesis } = argument
const scan = createScan({ seeds: [url], genesis })

/** Lookups of the owner of a name. */
const lookups: Readonly<Record<SdkArgument['kind'], (name: string) => Promise<unknown>>> = {
  resolve: (name) => scan.names.resolve(name),
  async fetch(name) {
    const response = await fetch(`${url}/v0/ans-entries/by-name/${name}`)
    const { entry } = (await response.json()) as { entry?: { user: string } }
    return entry?.user
  },
}
const lookUp = lookups[kind]
await again(argument, ({ connections, ms }) =>
  measureLoad({
    concurrency: connections,
    ms,
    async send(index) {
      const found = String(await lookUp(names[index % names.length] ?? '').catch(String))
      return found.includes('::1220') ? null : found
    },
  }),
)
