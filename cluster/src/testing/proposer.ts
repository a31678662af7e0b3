/** For tests: a proxy between a member's engine and synchronizer that replaces the entries of its proposals. */
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { SpawnEngine } from '@quorumscan/cometbft'
import { listen } from '@quorumscan/testkit'
import { BinaryReader, BinaryWriter } from 'cosmjs-types/binary'
import { Response } from 'cosmjs-types/tendermint/abci/types'

export type Propose = (entries: readonly Uint8Array[]) => readonly Uint8Array[]

/** @param options.abci - The socket on which the synchronizer listens for the engine. */
export async function startProposer(options: {
  readonly abci: string
  readonly home: string
  readonly propose: Propose
}): Promise<AsyncDisposable & { readonly spawnEngine: SpawnEngine }> {
  const { abci, home, propose } = options
  const socketPath = `${abci}.p`
  const server = await listen(
    (engine) => {
      const application = connect(abci)
      const split = createSplitter()
      engine.on('error', () => application.destroy())
      application.on('error', () => engine.destroy())
      engine.pipe(application)
      application.on('close', () => engine.destroy())
      application.on('data', (chunk) => {
        for (const message of split(chunk)) engine.write(changed(message, propose))
      })
    },
    { at: socketPath },
  )
  return {
    async spawnEngine(start) {
      const file = join(home, 'config', 'config.toml')
      const config = await readFile(file, 'utf8')
      await writeFile(file, config.replace(`unix://${abci}`, `unix://${socketPath}`))
      return start()
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function changed(message: Uint8Array, propose: Propose): Uint8Array {
  const response = Response.decode(message)
  if (response.prepareProposal !== undefined)
    response.prepareProposal.txs = [...propose(response.prepareProposal.txs)]
  return new BinaryWriter().bytes(Response.encode(response).finish()).finish()
}

/** Splits the bytes into length-prefixed messages. */
function createSplitter(): (chunk: Uint8Array) => Uint8Array[] {
  let rest = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const messages: Uint8Array[] = []
    for (;;) {
      // The length itself may be incomplete.
      if (rest.every((byte) => byte >= 0x80)) return messages
      const reader = new BinaryReader(rest)
      const length = reader.uint32()
      if (reader.pos + length > rest.byteLength) return messages
      messages.push(rest.subarray(reader.pos, reader.pos + length))
      rest = rest.subarray(reader.pos + length)
    }
  }
}
