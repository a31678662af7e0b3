// `npm run test:nodes` runs the SDK's tests, and the test that the same log yields the same state, with other versions
// of Node. It installs each version from the registry into a temporary directory. `npm run test:long` runs it as well.
//
//   npm run test:nodes              SDK, consumer project, Rule 1 and vectors with Node 22 and 24;
//                                   with LONG=1 also real processes of that Node, and the browser
//   npm run test:nodes -- 24 sdk    only this version and this kind of tests (sdk, consumer, e2e, …)
//
// It needs a build, like that of `npm test`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const VERSIONS = ['22', '24']
const KINDS = ['sdk', 'consumer', 'integration', 'vectors']
const LONG_KINDS = [...KINDS, 'parity', 'e2e', 'browser']
/** End-to-end tests of the SDK, and the integration test that every Node computes the same state. */
const FILES = {
  e2e: ['test/e2e/sdk.test.ts'],
  integration: ['packages/replica/src/rule-1.integration.test.ts'],
}

/** Runs all kinds with all versions, and returns how many passed and failed. */
export function runNodes(args = []) {
  const versions = args.filter((arg) => /^[0-9]+$/.test(arg))
  const named = args.filter((arg) => !/^[0-9]+$/.test(arg))
  const kinds = named.length > 0 ? named : process.env.LONG ? LONG_KINDS : KINDS
  const counts = { passed: 0, failed: 0 }
  for (const version of versions.length > 0 ? versions : VERSIONS) {
    const directory = mkdtempSync(join(tmpdir(), `qs-node-${version}-`))
    try {
      const env = environmentOf(version, directory)
      for (const kind of kinds)
        counts[env !== null && isPassed(kind, env) ? 'passed' : 'failed'] += 1
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  }
  return counts
}

/** An environment with that Node first on the PATH, also for processes of tests. Null if it cannot be installed. */
function environmentOf(version, directory) {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const install = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', directory]
  const npm = spawnSync('npm', [...install, `${name}@${version}`], { stdio: 'inherit' })
  if (npm.status !== 0) return null
  const bin = join(directory, 'node_modules', name, 'bin')
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    // Both versions of Node must compute the same state.
    OTHER_NODE: process.execPath,
  }
  const { stdout } = spawnSync('node', ['--version'], { env, encoding: 'utf8' })
  console.log(`\n== Node ${stdout}`)
  return stdout.startsWith(`v${version}.`) ? env : null
}

function isPassed(kind, env) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [vitest, 'run', '--project', kind, ...(FILES[kind] ?? [])]
  return spawnSync('node', args, { cwd: root, stdio: 'inherit', env }).status === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { failed } = runNodes(process.argv.slice(2))
  process.exitCode = failed === 0 ? 0 : 1
}
