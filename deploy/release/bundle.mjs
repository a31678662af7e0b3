// What the packages of a release contain: the part of the bundles that a command and the apps which it starts load.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package of the registry, as the folder in which a module was found. */
const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/

/** The chunks that processes of these entries load. */
export function chunksOf(chunks, isEntry) {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const loaded = new Set(chunks.filter((chunk) => chunk.isEntry && isEntry(chunk.fileName)))
  // The set grows while it is walked. Other imports are modules of Node.
  for (const { imports, dynamicImports } of loaded)
    for (const file of [...imports, ...dynamicImports])
      if (byFile.has(file)) loaded.add(byFile.get(file))
  return [...loaded]
}

/** The folders of the packages of the registry that are in these chunks. */
export function packagesOf(chunks) {
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds)
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
