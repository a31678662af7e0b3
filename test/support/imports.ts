/** Run-time imports of source files, followed through packages by the imported names. */
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'oxc-parser'
import { files, read } from './tree.ts'

/** With `names` null, all exports of the module are imported. */
type Import = { readonly from: string; readonly names: readonly string[] | null }
type ReExport = Import & { readonly exported: string | null }
type Module = { readonly imports: readonly Import[]; readonly reExports: readonly ReExport[] }

/** Files from the first one to the one that imports the target. */
type Path = readonly string[]

const DYNAMIC = /^['"`]([^'"`]+)['"`]$/

/** Parses run-time imports. Imports of types do not count. */
export function parseModule(file: string, source: string): Module {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module
  const imports = staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest, entries }) => {
      const values = entries.filter(({ isType }) => !isType)
      const isWhole = values.some(({ importName }) => importName.kind === 'NamespaceObject')
      const names = isWhole ? null : values.map(({ importName }) => importName.name ?? 'default')
      return { from: moduleRequest.value, names }
    })
  const dynamic = dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const [, from] = DYNAMIC.exec(source.slice(start, end)) ?? []
    return from === undefined ? [] : [{ from, names: null }]
  })
  const reExports = staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ moduleRequest, importName, exportName, isType }) =>
      moduleRequest === null || moduleRequest === undefined || isType
        ? []
        : [
            {
              from: moduleRequest.value,
              names: importName.name === null ? null : [importName.name],
              exported: exportName.name ?? null,
            },
          ],
    )
  return { imports: [...imports, ...dynamic], reExports }
}

/** Finds paths of imports. `sourceOf` and `resolve` are parameters, so that a test can use an invented tree. */
export function createImports({
  sourceOf = read,
  resolve = createResolver(),
}: {
  readonly sourceOf?: (file: string) => string
  /** @returns The file of an import, or null for a module of Node or of a library. */
  readonly resolve?: (from: string, importer: string) => string | null
} = {}) {
  const modules = new Map<string, Module>()
  const moduleOf = (file: string): Module => {
    const known = modules.get(file)
    if (known !== undefined) return known
    const module = parseModule(file, sourceOf(file))
    modules.set(file, module)
    return module
  }

  /** Files that an import of these names loads. A re-export is followed without the other imports of its file. */
  const targetsOf = ({ from, names }: Import, importer: string): readonly string[] => {
    const file = resolve(from, importer)
    if (file === null) return []
    const { reExports } = moduleOf(file)
    if (names === null || names.length === 0)
      return [file, ...reExports.flatMap((again) => targetsOf(again, file))]
    return names.flatMap((name) => {
      const named = reExports.find(({ exported }) => exported === name)
      if (named !== undefined) return targetsOf(named, file)
      const stars = reExports.filter(({ exported }) => exported === null)
      return [file, ...stars.flatMap(({ from }) => targetsOf({ from, names: [name] }, file))]
    })
  }

  return {
    /** @returns The files from this one to the first that imports the target, or null if no path exists. */
    pathTo(
      file: string,
      target: string,
      isFollowed: (file: string) => boolean = () => true,
    ): Path | null {
      const visited = new Set([file])
      const open: Path[] = [[file]]
      for (let path = open.shift(); path !== undefined; path = open.shift()) {
        const last = path.at(-1) ?? file
        const { imports } = moduleOf(last)
        if (imports.some(({ from }) => from === target)) return path
        for (const next of imports.flatMap((one) => targetsOf(one, last)))
          if (!visited.has(next) && isFollowed(next)) {
            visited.add(next)
            open.push([...path, next])
          }
      }
      return null
    },
    /** The files of the repository that this one loads, each with the number of imports that lead to it. */
    reachedFrom(file: string): ReadonlyMap<string, number> {
      const distances = new Map([[file, 0]])
      // The iteration of a Map visits what is added meanwhile.
      for (const [from, distance] of distances)
        for (const next of moduleOf(from).imports.flatMap((one) => targetsOf(one, from)))
          if (!distances.has(next)) distances.set(next, distance + 1)
      return distances
    },
  }
}

/** Resolves relative imports, and those of our packages by their `exports`. Returns null for all others. */
function createResolver() {
  type Entry = string | Readonly<Record<string, string>>
  type Manifest = { readonly name: string; readonly exports?: Readonly<Record<string, Entry>> }
  const packages = new Map(
    files
      .filter((file) =>
        /^(packages|apps)\/[^/]+\/package\.json$|^(cluster|sdk)\/package\.json$/.test(file),
      )
      .map((file) => [dirname(file), JSON.parse(read(file)) as Manifest] as const)
      .map(([folder, { name, exports = {} }]) => [name, { folder, exports }] as const),
  )
  return (from: string, importer: string): string | null => {
    if (from.startsWith('.')) return normalize(join(dirname(importer), from))
    const [, name = '', rest = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(from) ?? []
    const found = packages.get(name)
    const entry = found?.exports[`.${rest}`]
    const source = typeof entry === 'string' ? entry : entry?.['@quorumscan/source']
    return found === undefined || source === undefined ? null : join(found.folder, source)
  }
}
