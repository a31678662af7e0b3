/** The examples and commands of the SDK's README, run unchanged. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Network } from '@quorumscan/sdk'
import type { TestCluster } from '@quorumscan/sdk/testing'
import { transformSync } from 'rolldown/utils'

const sdk = join(import.meta.dirname, '../../../sdk')
const COMMAND = join(sdk, '../node_modules/.bin/quorumscan')

type Environment = Readonly<Record<string, string>>

/** Runs an example against the built package, without its types, and returns its output. */
export async function runExample(
  name: string,
  env: Environment = {},
  cwd = process.cwd(),
): Promise<string> {
  // Where it finds the packages that the SDK finds, and where no check looks for files meanwhile.
  const outfile = join(sdk, 'node_modules/.cache', `${name}.${crypto.randomUUID()}.mjs`)
  try {
    const source = await readFile(join(sdk, 'examples', `${name}.ts`), 'utf8')
    const { code, errors } = transformSync(`${name}.ts`, source, { target: 'node20' })
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'))
    await mkdir(dirname(outfile), { recursive: true })
    await writeFile(outfile, code)
    const options = { env: { ...process.env, ...env }, cwd, timeout: 110_000 }
    return (await promisify(execFile)(process.execPath, [outfile], options)).stdout
  } finally {
    await rm(outfile, { force: true })
  }
}

/** Runs the commands that set the address, the genesis hash and the token, and returns the last two. */
export async function runReadmeCommands({ dataDir }: TestCluster): Promise<readonly string[]> {
  const readme = await readFile(join(sdk, 'README.md'), 'utf8')
  const [, lines = ''] = /```sh\n(export SEED[\s\S]*?)```/.exec(readme) ?? []
  const script = `npx() { shift 3; "$COMMAND" "$@" --data-dir "$DIRECTORY"; }
    ${lines}
    echo "$GENESIS_HASH $TOKEN"`
  const env = { ...process.env, COMMAND, DIRECTORY: dataDir }
  const { stdout } = await promisify(execFile)('bash', ['-ec', script], { env })
  return stdout.trim().split(' ')
}

/** The network that `quorumscan env` prints: as JSON, and the variables that a shell has of it. */
export async function runEnv({ dataDir }: TestCluster) {
  const env = { ...process.env, COMMAND, DIRECTORY: dataDir }
  const run = async (script: string) =>
    (await promisify(execFile)('bash', ['-ec', script], { env })).stdout
  const variables = ['SEED', 'SEEDS', 'GENESIS_HASH', 'VALIDATOR']
  const shown = await run(
    `eval "$("$COMMAND" env --data-dir "$DIRECTORY")"; printenv ${variables.join(' ')}`,
  )
  const values = shown.trimEnd().split('\n')
  return {
    preset: JSON.parse(await run('"$COMMAND" env --json --data-dir "$DIRECTORY"')) as {
      readonly network: Network
      readonly validator: { readonly url: string }
    },
    variables: Object.fromEntries(variables.map((name, index) => [name, values[index] ?? ''])),
  }
}

/** Installs a `quorumscan` command into this directory whose `up` uses a running cluster instead of a new one. */
export async function installCommandFor({ dataDir }: TestCluster, directory: string) {
  const bin = join(directory, 'node_modules/.bin')
  const script = `#!/usr/bin/env bash
set -e
if [ "$1" = up ]; then
  cp '${dataDir}/genesis.json' "\${@: -1}"
  '${COMMAND}' status --json --data-dir '${dataDir}' | tr -d '\\n'
  echo
  exec sleep infinity
fi
exec '${COMMAND}' "\${@:1:$#-1}" '${dataDir}'
`
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'quorumscan'), script, { mode: 0o755 })
}
