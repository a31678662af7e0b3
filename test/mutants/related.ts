/** Which files of tests load a file, the nearest first. Tests of bundles load none: they see no mutant. */
import { readSeconds } from '../support/durations.ts'
import { createImports } from '../support/imports.ts'
import { sources } from '../support/tree.ts'

const OF_BUNDLES = /^test\/(?:attacks|bench|browser|conformance|consumer|e2e|shots|sizes)\//

export type Related = { readonly file: string; readonly distance: number; readonly seconds: number }

/** Returns the tests that load a file: by the number of imports between, then by their time. */
export function createRelated(): (file: string) => readonly Related[] {
  const { reachedFrom } = createImports()
  const seconds = { ...readSeconds('rest'), ...readSeconds('main') }
  const testsOf = new Map<string, Related[]>()
  for (const test of sources.filter((file) => file.endsWith('.test.ts') && !OF_BUNDLES.test(file)))
    for (const [file, distance] of reachedFrom(test)) {
      const tests = testsOf.get(file) ?? []
      tests.push({ file: test, distance, seconds: seconds[test] ?? 0 })
      testsOf.set(file, tests)
    }
  return (file) =>
    (testsOf.get(file) ?? []).sort((a, b) => a.distance - b.distance || a.seconds - b.seconds)
}
