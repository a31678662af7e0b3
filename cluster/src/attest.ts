/** What the nodes say about the history up to an offset, each with its signature (D-41). */
import { fromHex, verifySignature } from '@quorumscan/base'
import { encodeAttestationStatement, type Genesis, hashGenesis } from '@quorumscan/consensus'
import { ask } from './ask.ts'

/** A node waits 250 ms for an offset; on a machine under load it takes longer to say anything. */
const TIMEOUT_MS = 5000
const HASH = /^[0-9a-f]{64}$/

export type Attested = {
  readonly node: string
  /** Null if it attested nothing; `reason` says why. */
  readonly historyHash: string | null
  readonly reason: string | null
}

/** Asks every node of the genesis at its address. What is not signed by the node's key counts for nothing. */
export async function askAttestations(
  offset: number,
  options: {
    readonly genesis: Genesis
    readonly nodes: readonly { readonly name: string; readonly url: string }[]
  },
): Promise<readonly Attested[]> {
  const genesisHash = await hashGenesis(options.genesis)
  return await Promise.all(
    options.genesis.nodes.map(async ({ name, scanKey }) => {
      const url = options.nodes.find((node) => node.name === name)?.url
      const answer = await ask(`${url}/v0/attestations/${offset}`, { timeoutMs: TIMEOUT_MS })
      const body = Object(answer.body)
      if (answer.status !== 200)
        return failed(name, answer.reason ?? String(body.code ?? answer.status))
      try {
        const { history_hash: historyHash, record_time: recordTime, signature } = body
        if (typeof historyHash !== 'string' || !HASH.test(historyHash))
          return failed(name, 'gives no history hash')
        const message = encodeAttestationStatement({ genesisHash, offset, recordTime, historyHash })
        const isSigned = verifySignature({
          publicKey: scanKey,
          message,
          signature: fromHex(String(signature)),
        })
        return isSigned
          ? { node: name, historyHash, reason: null }
          : failed(name, 'its signature does not fit')
      } catch (error) {
        return failed(name, String(Object(error).message ?? error))
      }
    }),
  )
}

function failed(node: string, reason: string): Attested {
  return { node, historyHash: null, reason }
}
