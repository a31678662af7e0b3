/** Whether the genesis of an operator is that of its network: of the other nodes, and of its data directory. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, type Peer } from '@quorumscan/runtime'
import { chainIdOf, type Genesis, maxFaulty, parseGenesis } from '@quorumscan/verifier'
import { hashGenesis } from '../genesis.ts'
import { type Check, failed, ok, warning } from './check.ts'

const ANSWER_MS_MAX = 3_000
const ANSWER_BYTES_MAX = 2 ** 20
const ADVICE =
  'Fetch the genesis from the other operators, and compare its hash with theirs (`quorumscan genesis verify`)'

/**
 * A node that does not answer is left out. One that answers may lie: f + 1 decide, as one of so many is honest.
 *
 * @param nodes - All scan nodes. That of this operator decides alone.
 * @param options.engineHomes - The directories of its engine; they may not exist.
 */
export async function checkGenesis(
  nodes: readonly Peer[],
  options: {
    readonly genesis: Genesis
    readonly name: string
    readonly engineHomes: readonly string[]
    readonly fetch: typeof globalThis.fetch
  },
): Promise<Check> {
  const { genesis, name: own, engineHomes, fetch } = options
  const hash = hashGenesis(genesis)
  const answers = await Promise.all(nodes.map((node) => askGenesis(node, fetch)))
  const found = answers.flat()
  const others = found.filter((one) => one.hash !== hash)
  const stored = engineHomes.map(chainIdIn).find((id) => id !== null && id !== chainIdOf(hash))
  const differences = [
    ...others.map((one) => `${one.name} has ${one.hash}`),
    ...(stored ? [`the engine in the data directory has that of the chain ${stored}`] : []),
  ]
  if (differences.length === 0) return ok('genesis', `${found.length} nodes answer, with the same`)
  const detail = `QS_GENESIS has the hash ${hash} (chain ${chainIdOf(hash)}), but ${differences.join(', ')}`
  const needed = Math.min(maxFaulty(genesis.nodes.length) + 1, nodes.length)
  const isWrong = stored || others.length >= needed || others.some(({ name }) => name === own)
  return isWrong
    ? { ...failed('genesis', detail, ADVICE), isMisconfigured: true }
    : warning('genesis', detail, ADVICE)
}

async function askGenesis({ name, url }: Peer, fetch: typeof globalThis.fetch) {
  const bounds = { timeoutMs: ANSWER_MS_MAX, bytesMax: ANSWER_BYTES_MAX, fetch }
  const { body } = await ask(`${url}/v0/genesis`, bounds)
  try {
    return [{ name, hash: hashGenesis(parseGenesis(body)) }]
  } catch {
    return [] // It gave no genesis, or one of a later release.
  }
}

/** The chain of an engine; null if it was never started. */
function chainIdIn(engineHome: string): string | null {
  try {
    return String(
      JSON.parse(readFileSync(join(engineHome, 'config/genesis.json'), 'utf8')).chain_id,
    )
  } catch {
    return null
  }
}
