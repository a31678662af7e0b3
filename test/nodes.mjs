// `npm run test:nodes` runs the tests of the SDK, and the test that the same log yields the same state, with other
// versions of Node. It installs each version from the registry into a temporary directory. Parts of `npm run test:long`
// run more files.
//
//   npm run test:nodes                  with Node 22 and 24
//   npm run test:nodes -- 24 sdk/src    only with this version; files and options of vitest
//
// It needs a build, like that of `npm test`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const VERSIONS = ['22', '24']
const FILES = [
  'sdk/src',
  'test/consumer/consumer.test.ts',
  'packages/replica/src/rule-1.integration.test.ts',
  'test/vectors',
]

const args = process.argv.slice(2)
const versions = args.filter((arg) => /^[0-9]+$/.test(arg))
const words = args.filter((arg) => !/^[0-9]+$/.test(arg))
const results = (versions.length > 0 ? versions : VERSIONS).map((version) =>
  isPassed(version, words.length > 0 ? words : FILES),
)
process.exitCode = results.every(Boolean) ? 0 : 1

function isPassed(version, vitestArgs) {
  const directory = mkdtempSync(join(tmpdir(), `qs-node-${version}-`))
  try {
    const env = environmentOf(version, directory)
    if (env === null) return false
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const options = { cwd: root, stdio: 'inherit', env }
    return spawnSync('node', [vitest, 'run', ...vitestArgs], options).status === 0
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
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
