/** The software that an operator installs does not contain the fault injector. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** The command, and the apps that it starts. */
const INSTALLED = ['apps/cli', 'apps/scan', 'apps/synchronizer', 'apps/validator']
/** Words of the fault injector that every bundle with a part of it contains. */
const FAULTS = /\bliar\b|QS_FAULTS|QS_FAULT_SOCKETS|faketime/i

type Package = { name: string; dependencies?: Record<string, string> }
const packageOf = (directory: string): Package => JSON.parse(read(`${directory}/package.json`))

const listed = JSON.parse(
  execFileSync('npm', ['query', '.workspace'], { cwd: ROOT, encoding: 'utf8' }),
) as readonly { name: string; location: string }[]

/** Directories that an install of these workspaces links, without development dependencies. */
function installOf(workspaces: readonly string[]): readonly string[] {
  const directoryOf = new Map(listed.map(({ name, location }) => [name, location]))
  const found = new Set(workspaces)
  for (const directory of found)
    for (const name of Object.keys(packageOf(directory).dependencies ?? {})) {
      const dependency = directoryOf.get(name)
      if (dependency !== undefined) found.add(dependency)
    }
  return [...found]
}

/** Files of a folder in the image's context, by the allowing rules of `.dockerignore`. */
function contextFilesBelow(folder: string): readonly string[] {
  const rules = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1))
  const files = execFileSync('git', ['ls-files', folder], { cwd: ROOT, encoding: 'utf8' })
  return files
    .split('\n')
    .filter((file) => allowed.some((rule) => file === rule || file.startsWith(`${rule}/`)))
}

describe('the image', () => {
  it('links only packages and apps, not cluster', () => {
    const directories = installOf(INSTALLED)
    expect(directories.length).toBeGreaterThan(20)
    expect(directories.filter((one) => !/^(packages|apps)\//.test(one))).toEqual([])
    expect(installOf(['cluster'])).toContain('apps/cli')
  })

  it('has only package.json of cluster in its context, and removes it', () => {
    expect(contextFilesBelow('apps/cli').length).toBeGreaterThan(20)
    expect(contextFilesBelow('cluster')).toEqual(['cluster/package.json'])
    expect(read('deploy/docker/Dockerfile')).toMatch(
      /rm -rf .*\bnode_modules\/quorumscan cluster\b/,
    )
    expect(read('deploy/docker/Dockerfile')).toContain('/apps/cli/bin/quorumscan.mjs')
    expect(read('deploy/systemd/quorumscan@.service')).toContain('/apps/cli/bin/quorumscan.mjs')
  })

  it('has a command whose bundle contains no module of the fault injector', () => {
    const textOf = (directory: string) =>
      readdirSync(join(ROOT, directory))
        .filter((file) => file.endsWith('.js'))
        .map((file) => read(`${directory}/${file}`))
        .join('\n')
    const modulesOf = (text: string) =>
      [...text.matchAll(/^\/\/(?:#region)? (\S+\.[cm]?js)$/gm)].map(([, module = '']) => module)
    const own = textOf('apps/cli/dist/bundle')
    expect(modulesOf(own).length).toBeGreaterThan(100)
    expect(modulesOf(own).filter((module) => /^[./]*\/cluster\/|\/faults\//.test(module))).toEqual(
      [],
    )
    expect(FAULTS.exec(own)?.[0]).toBeUndefined()
    // The same search finds the modules in the command of the cluster.
    const rig = textOf('cluster/dist/processes')
    expect(FAULTS.test(rig)).toBe(true)
    expect(modulesOf(rig).some((module) => module.includes('faults/'))).toBe(true)
  })

  it('runs apps without code of the fault injector', () => {
    const built = INSTALLED.flatMap((app) =>
      readdirSync(join(ROOT, app, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => /(?<!\.test)\.ts$/.test(file) && !file.includes('testing/'))
        .map((file) => `${app}/dist/${file.replace(/ts$/, 'js')}`),
    )
    expect(built.length).toBeGreaterThan(40)
    expect(built.filter((file) => FAULTS.test(read(file)))).toEqual([])
  })
})
