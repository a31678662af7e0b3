// Bills of materials in the format CycloneDX. npm writes one of the whole lock file, with the hashes and licenses of its
// packages. That of a package of the release has the part of it which the package contains or depends on.
import { manifestOf } from './bundle.mjs'

/**
 * @param whole - Of the repository, as `npm sbom` writes it.
 * @param timestamp - Of the commit, so that two builds are equal.
 * @param refs - `name@version` of each package of the registry that it contains or depends on.
 */
export function billOfMaterials(whole, { name, version, license, exports }, timestamp, refs) {
  const own = `${name}@${version}`
  const components = whole.components.filter((component) => refs.includes(component['bom-ref']))
  const missing = refs.filter((ref) => !components.some((one) => one['bom-ref'] === ref))
  if (missing.length > 0) throw new Error(`not in the lock file: ${missing.join(', ')}`)
  const { serialNumber: _, metadata, ...rest } = whole
  const component = {
    'bom-ref': own,
    type: exports === undefined ? 'application' : 'library',
    name,
    version,
    purl: `pkg:npm/${own.replace(/^@/, '%40')}`,
    licenses: [{ license: { id: license } }],
  }
  return {
    ...rest,
    metadata: { timestamp, lifecycles: [{ phase: 'build' }], tools: metadata.tools, component },
    components,
    dependencies: [
      { ref: own, dependsOn: refs },
      ...whole.dependencies
        .filter(({ ref }) => refs.includes(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isIn(refs)) })),
    ],
  }
}

/** `name@version` of packages of the registry, by their folders. */
export function refsOf(folders) {
  const refs = folders.map(manifestOf).map(({ name, version }) => `${name}@${version}`)
  return [...new Set(refs)].sort()
}

/** `name@version` of the declared dependencies of a package, and of theirs. */
export function refsOfDependencies(whole, { dependencies = {} }) {
  const found = new Set(Object.entries(dependencies).map((entry) => entry.join('@')))
  for (const ref of found)
    for (const next of whole.dependencies.find((one) => one.ref === ref)?.dependsOn ?? [])
      found.add(next)
  return [...found].sort()
}

function isIn(refs) {
  return (ref) => refs.includes(ref)
}
