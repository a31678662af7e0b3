/** The lock file pins each package by its hash, in versions for every supported Node. */
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { read } from '../support/tree.ts'

const { minVersion, satisfies } = createRequire(import.meta.url)('semver') as {
  minVersion(range: string): { readonly version: string } | null
  satisfies(version: string, range: string): boolean
}

type Locked = {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly engines?: { readonly node?: string }
}

const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
const installed = Object.entries(packages).filter(
  ([path, { link = false }]) => path.includes('node_modules/') && !link,
)
const shown = ([path, { version, engines }]: (typeof installed)[number]) =>
  `${path}@${version} ${engines?.node ?? ''}`.trim()

// npm omits the hash of packages for other platforms if it writes the file from the installed packages.
it('each package in the lock file has the hash of its content', () => {
  expect(installed.length).toBeGreaterThan(0)
  expect(installed.filter(([, { integrity }]) => integrity === undefined).map(shown)).toEqual([])
})

it('each package in the lock file supports the oldest supported Node', () => {
  const oldest = minVersion(engines.node)?.version ?? ''
  const unsupported = installed.filter(
    ([, { engines }]) => !satisfies(oldest, engines?.node ?? '*'),
  )
  expect(unsupported.map(shown)).toEqual([])
})
