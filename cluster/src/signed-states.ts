/** What the nodes signed of the state of the ledger, for a look from outside. */
import { createWebCrypto, type Genesis, hashGenesis } from '@quorumscan/consensus'
import {
  type Certificate,
  parseCertificate,
  verifySignatures,
} from '@quorumscan/consensus/certified'
import { ask } from './ask.ts'
import { wordOfRefusal } from './node-words.ts'

/** A node waits 5 s for a statement that it does not have yet; on a machine under load it takes longer. */
const TIMEOUT_MS = 10_000

export type SignedState = {
  readonly node: string
  /** At the offset that was asked for, if the node signed something there. */
  readonly state: { readonly historyHash: string; readonly stateRoot: string } | null
  /** The newest offset that it signed something of; null: of none that was asked for. */
  readonly newest: number | null
  /** Why it said nothing at all. */
  readonly reason: string | null
}

export type SignedStates = {
  /** The newest at which the most nodes signed something; null: none did. */
  readonly offset: number | null
  readonly states: readonly SignedState[]
}

/**
 * Asks every node of the genesis at its address for what it signed behind an offset; waits a while for it.
 * What is not signed by the node's key counts for nothing.
 */
export async function askSignedStates(
  after: number,
  options: {
    readonly genesis: Genesis
    readonly nodes: readonly { readonly name: string; readonly url: string }[]
  },
): Promise<SignedStates> {
  const { genesis, nodes } = options
  const network = { genesis, genesisHash: await hashGenesis(genesis), crypto: createWebCrypto() }
  const askNode = async (name: string): Promise<readonly Certificate[]> => {
    const url = nodes.find((node) => node.name === name)?.url
    const path = `/v0/state-statements?after=${after}`
    const answer = await ask(`${url}${path}`, { timeoutMs: TIMEOUT_MS })
    const body = Object(answer.body)
    if (answer.status !== 200)
      throw new Error(answer.reason ?? wordOfRefusal(answer.status ?? 0, answer.body))
    const statements = (body.statements as unknown[]).map((statement) =>
      parseCertificate(JSON.stringify(statement)),
    )
    for (const statement of statements) {
      await verifySignatures(statement, network)
      if (statement.signatures.map(([signer]) => signer).join() !== name)
        throw new Error('it tells what others signed')
    }
    return statements
  }
  const asked = await Promise.all(
    genesis.nodes.map(async ({ name }) => {
      try {
        return { node: name, signed: await askNode(name), reason: null }
      } catch (error) {
        return { node: name, signed: [], reason: String(Object(error).message ?? error) }
      }
    }),
  )
  const offset = newestCommonOffset(asked.map(({ signed }) => signed.map((one) => one.offset)))
  return {
    offset,
    states: asked.map(({ node, signed, reason }) => {
      const found = signed.find((one) => one.offset === offset)
      const state = found && { historyHash: found.historyHash, stateRoot: found.stateRoot }
      return { node, state: state ?? null, newest: signed.at(-1)?.offset ?? null, reason }
    }),
  }
}

/** The offset that the most lists hold, of those the highest. */
export function newestCommonOffset(lists: readonly (readonly number[])[]): number | null {
  const counts = new Map<number, number>()
  for (const offset of lists.flat()) counts.set(offset, (counts.get(offset) ?? 0) + 1)
  const [best] = [...counts].sort(([a, countA], [b, countB]) => countB - countA || b - a)
  return best?.[0] ?? null
}
