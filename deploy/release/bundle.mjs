// Bundles of the commands and of the apps that they start: no package of the registry is installed with a release.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

/** The apps that `run` starts. */
const APPS = ['scan', 'synchronizer', 'validator']
/** A package of the registry, as the folder in which a module was found. */
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/

/** Entries of the command of operators, by the path that `apps/cli` expects. */
export function operatorEntries() {
  return { 'apps/cli/dist/bundle/main': 'apps/cli/dist/main.js', ...appEntries() }
}

/** Entries of the command of the cluster, by the paths that `cluster` expects. */
export function clusterEntries(root) {
  const faults = readdirSync(join(root, 'cluster/src/faults'))
    .filter((file) => file.endsWith('-main.ts'))
    .map((file) => `faults/${file.replace(/ts$/, 'js')}`)
  const processes = ['commands/cli-main.js', 'control/control-main.js', ...faults].map((file) => [
    `cluster/dist/processes/${file.replace(/^.*\/|\.js$/g, '')}`,
    `cluster/dist/${file}`,
  ])
  return { ...Object.fromEntries(processes), ...appEntries() }
}

function appEntries() {
  return Object.fromEntries(
    APPS.map((app) => [`apps/${app}/dist/main`, `apps/${app}/dist/main.js`]),
  )
}

/**
 * Writes the bundles below `directory`. Shared parts lie next to the first entry, because `packageRoot` finds the
 * package of a module by its path.
 *
 * @returns The folders of the packages of the registry that are in them.
 */
export async function writeBundles(root, entries, directory) {
  const [first = ''] = Object.keys(entries)
  const build = await rolldown({ cwd: root, input: entries, platform: 'node', logLevel: 'silent' })
  const { output } = await build.write({
    dir: directory,
    format: 'esm',
    chunkFileNames: first.replace(/[^/]+$/, '[name]-[hash].js'),
  })
  await build.close()
  return packagesOf(output)
}

/** The folders of the packages of the registry that the page of the console contains. Vite does not report them. */
export async function packagesOfConsole(root) {
  const build = await rolldown({
    cwd: root,
    input: 'apps/console/src/main.tsx',
    moduleTypes: { '.css': 'empty' },
    logLevel: 'silent',
  })
  const { output } = await build.generate()
  await build.close()
  return packagesOf(output)
}

function packagesOf(output) {
  const modules = output.flatMap((chunk) => chunk.moduleIds ?? [])
  return [...new Set(modules.flatMap((module) => PACKAGE.exec(module)?.[0] ?? []))]
}

/** The texts of the licenses of these packages, which have to accompany their code. */
export function licensesOf(folders) {
  return folders
    .map((folder) => {
      const { name, version, license } = manifestOf(folder)
      const texts = readdirSync(folder)
        .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
        .sort()
        .map((file) => readFileSync(join(folder, file), 'utf8').trim())
      return `${[`${name} ${version}: ${license}`, ...texts].join('\n\n')}\n`
    })
    .sort()
    .join(`\n${'-'.repeat(80)}\n`)
}

/** The package.json of a folder. */
export function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
