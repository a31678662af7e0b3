/** Whether the genesis of an operator is that of its network: of the other nodes, and of its data directory. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ask, type Peer } from '@quorumscan/runtime'
import { chainIdOf, memberSetOf, parseGenesis } from '@quorumscan/verifier'
import { hashGenesis } from '../genesis.ts'
import type { OperatorConfig } from '../run/operator-config.ts'
import { type Check, failed, ok, warning } from './check.ts'

const BOUNDS = { timeoutMs: 3_000, bytesMax: 2 ** 20 }
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
  { genesis, name: own }: Pick<OperatorConfig, 'genesis' | 'name'>,
  options: { readonly engineHomes: readonly string[]; readonly fetch: typeof globalThis.fetch },
): Promise<Check> {
  const { engineHomes, fetch } = options
  const hash = hashGenesis(genesis)
  const answers = await Promise.all(
    nodes.map(({ name, url }) =>
      ask(`${url}/v0/genesis`, { ...BOUNDS, fetch })
        .then(({ body }) => [{ name, hash: hashGenesis(parseGenesis(body)) }])
        .catch(() => []),
    ),
  )
  const others = answers.flat().filter((one) => one.hash !== hash)
  const chains = await Promise.all(engineHomes.map(chainIdIn))
  const stored = chains.find((id) => id !== null && id !== chainIdOf(hash))
  const differences = [
    ...others.map((one) => `${one.name} has ${one.hash}`),
    ...(stored ? [`the engine in the data directory has that of the chain ${stored}`] : []),
  ].join(', ')
  if (!differences) return ok('genesis', `${answers.flat().length} nodes answer, with the same`)
  const detail = `QS_GENESIS has the hash ${hash} (chain ${chainIdOf(hash)}), but ${differences}`
  const needed = Math.min(memberSetOf(genesis).f + 1, nodes.length)
  return stored || others.length >= needed || others.some(({ name }) => name === own)
    ? { ...failed('genesis', detail, ADVICE), isMisconfigured: true }
    : warning('genesis', detail, ADVICE)
}

/** The chain of an engine; null if it was never started. */
async function chainIdIn(engineHome: string): Promise<string | null> {
  const reading = readFile(join(engineHome, 'config/genesis.json'), 'utf8')
  return reading.then((text) => String(JSON.parse(text).chain_id)).catch(() => null)
}
