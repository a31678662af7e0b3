/** Code of tests as scripts, by the bundler of releases. */
import { join } from 'node:path'
import { type OutputOptions, rolldown } from 'rolldown'

type BundleOptions = {
  /** Whether the SDK is bundled from its sources. Default: from its build. */
  readonly isFromSources?: boolean
  readonly minify?: boolean
}

/**
 * Bundles for a page: entries, and the parts that they load by `import()`.
 *
 * @param entries - The path of each source by the name of its script.
 * @returns The code of each script by its path, such as `/page.js`.
 */
export async function bundlePage(
  entries: Readonly<Record<string, string>>,
  options: BundleOptions = {},
): Promise<ReadonlyMap<string, string>> {
  const chunks = await generate(entries, options, { format: 'esm' })
  return new Map(chunks.map(({ fileName, code }) => [`/${fileName}`, code]))
}

/** Bundles code into one script without modules. @param directory - Where its relative imports begin. */
export async function bundleScript(
  code: string,
  directory: string,
  options: BundleOptions = {},
): Promise<string> {
  const entry = join(directory, 'entry-of-a-script.ts')
  const output = { format: 'iife', codeSplitting: false } as const
  const [chunk] = await generate({ script: entry }, options, output, { [entry]: code })
  return chunk?.code ?? ''
}

/** @param sources - The code of files that do not exist, by their paths. */
async function generate(
  entries: Readonly<Record<string, string>>,
  { isFromSources = false, minify = false }: BundleOptions,
  output: Pick<OutputOptions, 'format' | 'codeSplitting'>,
  sources: Readonly<Record<string, string>> = {},
) {
  const build = await rolldown({
    input: { ...entries },
    platform: 'browser',
    // Such as of a package with a directive for servers.
    logLevel: 'silent',
    resolve: isFromSources ? { conditionNames: ['@quorumscan/source'] } : {},
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [
      {
        name: 'sources',
        resolveId: (id) => (id in sources ? id : null),
        load: (id) => sources[id] ?? null,
      },
    ],
  })
  const generated = await build.generate({
    ...output,
    minify,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await build.close()
  return generated.output.flatMap((one) => (one.type === 'chunk' ? [one] : []))
}
