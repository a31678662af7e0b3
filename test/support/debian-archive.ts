/** The archive of Debian that this machine uses, and Redis of its releases. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A Redis of Debian: one of those that README.md names. */
export type RedisOfDebian = {
  readonly release: 'bookworm' | 'trixie'
  readonly package: 'redis-server' | 'valkey-server'
}

/** What `cluster/provide-redis.mjs` offers. It is plain JavaScript and no part of a package. */
type ProvideRedis = {
  fetchCopy(
    cache: string,
    options: {
      readonly env: NodeJS.ProcessEnv
      readonly packages: readonly string[]
      readonly aptOptions: Readonly<Record<string, string>>
    },
  ): Promise<string>
}

/**
 * A line of sources for a release, from the archive of this machine.
 *
 * @throws {Error} On another system than Debian.
 */
export function archiveOf(release: string): string {
  const { VERSION_CODENAME: ours } = Object.fromEntries(
    readFileSync('/etc/os-release', 'utf8')
      .split('\n')
      .map((line) => line.split('=')),
  )
  const format = ['--no-release-info', '--format', '$(RELEASE) $(COMPONENT) $(REPO_URI)']
  const targets = execFileSync('apt-get', ['indextargets', ...format, 'Created-By: Packages'], {
    encoding: 'utf8',
  })
  const [, , uri] =
    targets
      .split('\n')
      .map((line) => line.split(' '))
      .find(([name, component]) => name === ours && component === 'main') ?? []
  if (uri === undefined) throw new Error('this machine has no sources of a release of Debian')
  return `deb ${uri} ${release} main`
}

/**
 * Unpacks a Redis with all its libraries, the C library too, as `npm start` does with those that a machine does not have.
 *
 * @returns The path of the server.
 */
export async function fetchRedis(
  { release, package: name }: RedisOfDebian,
  { repository, directory }: { readonly repository: string; readonly directory: string },
): Promise<string> {
  const sources = join(directory, 'sources')
  mkdirSync(sources, { recursive: true })
  const list = join(sources, 'sources.list')
  writeFileSync(list, `${archiveOf(release)}\n`)
  // A machine on which nothing is installed.
  writeFileSync(join(sources, 'status'), '')
  const aptOptions = {
    'Dir::Etc::sourcelist': list,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State::status': join(sources, 'status'),
  }
  const file = pathToFileURL(join(repository, 'cluster/provide-redis.mjs'))
  const { fetchCopy }: ProvideRedis = await import(file.href)
  return fetchCopy(join(directory, 'redis'), {
    env: process.env,
    packages: [name],
    aptOptions,
  })
}
