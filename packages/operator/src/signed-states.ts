/** The states of the ledger that the nodes signed, read from outside. */

import { describeRefusal } from '@quorumscan/errors/node-words'
import { ask } from '@quorumscan/runtime'
import {
  createPlatformCrypto,
  type Genesis,
  hashGenesis,
  memberOf,
  memberSetOf,
} from '@quorumscan/verifier'
import {
  type Certificate,
  parseCertificate,
  verifySignatures,
} from '@quorumscan/verifier/certified'
import { z } from 'zod'

/** A node waits 5 s for a statement that it does not have yet. On a machine under load it takes longer. */
const STATEMENTS_MS_MAX = 10_000

/** The reason of a node that signed two states of one offset begins with this. */
export const EQUIVOCATED = 'it signed two states'

export type SignedStates = Awaited<ReturnType<typeof askSignedStates>>
export type NodeSignedState = SignedStates['states'][number]

/**
 * Asks every node of the genesis for the states that it signed after an offset. A node that lags is asked a second time.
 * A statement that the key of the node did not sign counts for nothing.
 */
export async function askSignedStates(
  after: number,
  options: {
    readonly genesis: Genesis
    readonly nodes: readonly { readonly name: string; readonly url: string }[]
    readonly signal?: AbortSignal
    /** How long a node may take. */
    readonly timeoutMs?: number
    /** As that of `ask`. */
    readonly fetch?: typeof globalThis.fetch
  },
) {
  const { genesis, nodes, signal, timeoutMs = STATEMENTS_MS_MAX, fetch } = options
  const bounds = { timeoutMs, ...(signal && { signal }), ...(fetch && { fetch }) }
  const network = {
    genesis,
    genesisHash: await hashGenesis(genesis),
    crypto: createPlatformCrypto(),
  }
  const statementsOf = async (name: string, from: number): Promise<readonly Certificate[]> => {
    const url = nodes.find((node) => node.name === name)?.url
    if (url === undefined) throw new Error('its address is not known')
    const { status, body, reason } = await ask(`${url}/v0/state-statements?after=${from}`, bounds)
    if (status !== 200) throw new Error(reason ?? describeRefusal(status ?? 0, body))
    const statements = await readStatements(body, name, network)
    const rootByOffset = new Map(statements.map(({ offset, stateRoot }) => [offset, stateRoot]))
    const twice = statements.find((one) => rootByOffset.get(one.offset) !== one.stateRoot)
    if (twice !== undefined) throw new Error(`${EQUIVOCATED} of offset ${twice.offset}`)
    return statements
  }
  const askNode = async (node: string, from: number) => {
    try {
      return { node, signed: await statementsOf(node, from), reason: null }
    } catch (error) {
      return { node, signed: [], reason: String(memberOf(error, 'message') ?? error) }
    }
  }
  const first = await Promise.all(
    memberSetOf(genesis).members.map(({ name }) => askNode(name, after)),
  )
  const answers = first.filter(({ signed }) => signed.length > 0)
  const needed = Math.min(memberSetOf(genesis).f + 1, answers.length)
  const offset = newestSigned(
    answers.map(({ signed }) => signed.map((one) => one.offset)),
    needed,
  )
  const asked = await Promise.all(
    first.map(async (one) => {
      const newest = one.signed.at(-1)
      if (offset === null || one.reason !== null || (newest?.offset ?? 0) >= offset) return one
      const more = await askNode(one.node, offset - 1)
      return more.signed.length === 0 ? { ...one, reason: more.reason } : more
    }),
  )
  return {
    /** The newest that the nodes needed for an answer signed, or all that answered if fewer. Null: no node did. */
    offset,
    states: asked.map(({ node, signed, reason }) => {
      const found = signed.find((one) => one.offset === offset)
      const state = found && { historyHash: found.historyHash, stateRoot: found.stateRoot }
      const newest = signed.at(-1)
      return {
        node,
        /** The state at the offset that is compared; null: the node signed nothing there. */
        state: state ?? null,
        /** The newest offset that it signed; null: it signed nothing after `after`. */
        newest: newest ? { offset: newest.offset, recordTime: newest.recordTime } : null,
        /** Why it gave no signed state: a text of `node-words.ts`, or what is wrong with its answer. */
        reason,
      }
    }),
  }
}

/** Each is parsed as the certificate that it is. */
const statementsAnswer = z.object({ statements: z.array(z.unknown()) })

/**
 * The statements in an answer of a node.
 *
 * @throws {Error} If it is something else, or the key of this member did not sign it.
 */
export async function readStatements(
  body: unknown,
  name: string,
  network: Parameters<typeof verifySignatures>[1],
): Promise<readonly Certificate[]> {
  const statements = statementsAnswer
    .parse(body)
    .statements.map((statement) => parseCertificate(JSON.stringify(statement)))
  for (const statement of statements) {
    await verifySignatures(statement, network)
    if (statement.signatures.map(([signer]) => signer).join() !== name)
      throw new Error('it reports what others signed')
  }
  return statements
}

/** The highest offset in at least `needed` lists; null if no offset is. */
export function newestSigned(lists: readonly (readonly number[])[], needed: number): number | null {
  const counts = new Map<number, number>()
  for (const offset of lists.flat()) counts.set(offset, (counts.get(offset) ?? 0) + 1)
  const enough = [...counts].flatMap(([offset, count]) => (count >= needed ? [offset] : []))
  return enough.length === 0 || needed === 0 ? null : Math.max(...enough)
}
