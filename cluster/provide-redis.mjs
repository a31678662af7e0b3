// Provides Redis for `npm start`, `npm test` and `npm run bench`, without root and without a question: one that is there
// (packages/base/src/find-redis.mjs), or a private copy in the user's cache, which is unpacked from the package archive of
// Debian or Ubuntu. Plain JavaScript without dependencies; its syntax must parse on old Nodes.

import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
// @boundaries-ignore npm has not linked the packages yet
import {
  findRedis,
  isRedisNewEnough,
  REDIS_SERVERS,
  REDIS_VERSION_MIN,
  redisCache,
  redisVersionOf,
} from '../packages/base/src/find-redis.mjs'

const NEEDED = `Redis ${REDIS_VERSION_MIN} or newer, or Valkey, is needed`
/** How long apt-get waits for a mirror that is silent, for each of its lists. */
const SILENCE_SECONDS_MAX = 10
const DOWNLOAD_MINUTES_MAX = 10
/** A folder of a start that was killed is deleted when it is this old. */
const LEFTOVER_MINUTES = 60
/** Folders of libraries in packages of Debian: `usr/lib/x86_64-linux-gnu`. Those below have modules of programs. */
const LIBRARIES = /^(?:usr\/)?lib(?:64)?(?:\/[^/]+-linux-[^/]+)?$/
/** The beginning of the names of temporary folders. */
const TEMPORARY = '.unpacking-'
/**
 * Settings of apt-get. The hooks of the machine must not run: they change files outside of the user's cache. Proxies and
 * archives stay those of the machine.
 */
const APT_SETTINGS = `
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Update::Post-Invoke-Stats;
#clear AptCli::Hooks;
#clear Acquire::IndexTargets::deb-src;
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Languages "none";
Acquire::Retries "0";
Acquire::http::Timeout "${SILENCE_SECONDS_MAX}";
Acquire::https::Timeout "${SILENCE_SECONDS_MAX}";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Debug::NoLocking "true";
`

/** Why Redis cannot be provided, as a sentence for the terminal. */
export class NoRedis extends Error {}

/**
 * The path of a server that runs and is new enough. `say` gets a sentence before something is fetched.
 *
 * @throws {NoRedis} If there is none and none can be fetched. Nothing is left behind then.
 */
export async function provideRedis(env, say) {
  const found = findRedis(env)
  if (found !== null && found === env.REDIS_SERVER && !isRedisNewEnough(redisVersionOf(found)))
    throw new NoRedis(
      `$REDIS_SERVER (${found}) is not redis-server ${REDIS_VERSION_MIN} or newer, or valkey-server.`,
    )
  if (found !== null) return found
  if (process.platform === 'darwin')
    throw new NoRedis(`${NEEDED}: type \`brew install redis\`, or set $REDIS_SERVER.`)
  for (const program of ['apt-get', 'dpkg-deb'])
    if (!isOnPath(program, env))
      throw new NoRedis(
        `${NEEDED}: install it with the package manager of this system, or set $REDIS_SERVER.`,
      )
  say(`Fetching Redis into ${redisCache(env)} …`)
  return await fetchCopy(redisCache(env), { env })
}

/**
 * Fetches a server and the libraries that the machine does not have, and returns the path of the server.
 *
 * @param options.packages - Names of packages of Debian, of which the first is taken that the archive has and that is new
 *   enough. Each has the programs of its name. Default: Redis, then Valkey.
 * @param options.aptOptions - Further settings of apt, such as those that name another archive. Default: none.
 * @throws {NoRedis} If that fails. Nothing is left behind then.
 */
export async function fetchCopy(cache, { env, packages = REDIS_SERVERS, aptOptions = {} }) {
  let work = null
  const clean = () => {
    if (work !== null) rmSync(work, { recursive: true, force: true })
  }
  // An interrupt ends this process, and leaves nothing behind either.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const endBySignal = (signal) => {
    clean()
    process.off(signal, endBySignal)
    process.kill(process.pid, signal)
  }
  for (const signal of signals) process.on(signal, endBySignal)
  try {
    mkdirSync(cache, { recursive: true })
    removeLeftovers(cache)
    work = mkdtempSync(join(cache, TEMPORARY))
    return await fetchInto(work, { cache, env, packages, aptOptions })
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error
    throw new NoRedis(
      `${NEEDED}, and could not be stored in ${cache} (${error.message}): free space on its disk or set $XDG_CACHE_HOME to another folder, or install Redis.`,
    )
  } finally {
    for (const signal of signals) process.off(signal, endBySignal)
    clean()
  }
}

async function fetchInto(work, { cache, env, packages, aptOptions }) {
  const folders = ['lists', 'cache', 'log', 'archives', 'copy'].map((name) => {
    mkdirSync(join(work, name))
    return join(work, name)
  })
  const [lists, aptCache, log, archives, copy] = folders
  const settings = join(work, 'apt.conf')
  writeFileSync(settings, APT_SETTINGS)
  const own = { 'Dir::State::lists': lists, 'Dir::Cache': aptCache, 'Dir::Log': log }
  const words = Object.entries({ ...own, ...aptOptions }).flatMap(([key, value]) => [
    '-o',
    `${key}=${value}`,
  ])
  const options = { cwd: archives, env: aptEnvironment(env) }
  const apt = (program, ...command) =>
    run(program, ['-q', '-c', settings, ...words, ...command], options)

  // An archive that does not answer may be another one than that of Redis.
  const update = await apt('apt-get', 'update')
  const { name, version } = await chosenPackage({ packages, apt, update })
  const simulation = await apt('apt-get', '--simulate', 'install', name)
  const missing = [...simulation.output.matchAll(/^Inst (\S+) (?:\[[^\]]*\] )?\(([^\s)]+)/gm)]
  if (simulation.status !== 0 || missing.length === 0)
    throw isSilent(update)
      ? cannotFetch('a package archive does not answer', update.output)
      : cannotFetch(`${name} ${version} cannot be installed here`, simulation.output)
  const wanted = missing.map(
    ([, packageName, packageVersion]) => `${packageName}=${packageVersion}`,
  )
  const download = await apt('apt-get', 'download', ...wanted)
  if (download.status !== 0) throw cannotFetch('a package archive does not answer', download.output)

  await unpack(archives, copy)
  const server = join(copy, 'bin', name)
  if (!isRedisNewEnough(redisVersionOf(server)))
    throw new NoRedis(
      `${NEEDED}, and ${name} ${version} of the package archive does not run here: install another one, or set $REDIS_SERVER.`,
    )
  return join(put(copy, join(cache, `${name.split('-', 1)[0]}-${version}`), name), 'bin', name)
}

/** The first of the packages that the archive has in a version that is new enough. */
async function chosenPackage({ packages, apt, update }) {
  const old = []
  for (const name of packages) {
    const { output } = await apt('apt-cache', 'policy', name)
    // A version such as `5:8.0.2-3+deb13u1`.
    const version = /^ {2}Candidate: (?:[0-9]+:)?([0-9]+(?:\.[0-9]+)*)/m.exec(output)?.[1]
    if (version === undefined) continue
    if (isRedisNewEnough(version)) return { name, version }
    old.push(`${name} ${version}`)
  }
  if (old.length > 0)
    throw new NoRedis(
      `${NEEDED}, and the package archive of this system has ${old.join(' and ')}: install a newer one, or set $REDIS_SERVER.`,
    )
  throw isSilent(update)
    ? cannotFetch('a package archive does not answer', update.output)
    : new NoRedis(
        `${NEEDED}, and the package archives of this system do not have it: install it, or set $REDIS_SERVER.`,
      )
}

/** Whether an archive did not answer. */
function isSilent(update) {
  return update.status !== 0 || /^(?:Err:|W: Failed|E: )/m.test(update.output)
}

/** @param output - What apt-get printed, of which the first error is shown. */
function cannotFetch(what, output) {
  if (/No space left|enough free space/.test(output))
    return new NoRedis(
      `${NEEDED}, and the disk of the cache is full: free space, or set $XDG_CACHE_HOME to a folder on another disk.`,
    )
  const error = /^(?:[EW]: )(.*)/m.exec(output)?.[1]
  const detail = error === undefined ? '' : ` (${error.trim()})`
  return new NoRedis(
    `${NEEDED}, and could not be fetched, because ${what}${detail}: check network and proxy, or type \`apt-get install redis-server\` as root, or set $REDIS_SERVER.`,
  )
}

/** Unpacks packages into the folder `root` of the copy, and writes a script for each program into its folder `bin`. */
async function unpack(archives, copy) {
  const root = join(copy, 'root')
  mkdirSync(root)
  const files = readdirSync(archives).filter((name) => name.endsWith('.deb'))
  // It has the links between folders, which the others follow.
  files.sort((a, b) => Number(b.startsWith('base-files_')) - Number(a.startsWith('base-files_')))
  for (const file of files) {
    const { status, output } = await run('dpkg-deb', ['-x', join(archives, file), root])
    if (status !== 0) throw cannotFetch(`${file} cannot be unpacked`, output)
  }
  const all = filesBelow(root)
  const libraries = [...new Set(all.map((file) => dirname(relative(root, file))))].filter(
    (directory) => LIBRARIES.test(directory),
  )
  // A C library is started by the loader of its own version.
  const loader = all.find((file) => /\/ld(?:-linux[^/]*|64)\.so\.[0-9]+$/.test(file))
  mkdirSync(join(copy, 'bin'))
  for (const file of all.filter((one) => /\/bin\/(?:redis|valkey)-[a-z-]+$/.test(one))) {
    const script = scriptOf({
      program: relative(root, file),
      libraries,
      loader: loader === undefined ? null : relative(root, loader),
    })
    writeFileSync(join(copy, 'bin', file.split('/').pop()), script, { mode: 0o755 })
  }
}

/** It is replaced by the program, which so has its process id. The paths are those of packages of Debian, without blanks. */
function scriptOf({ program, libraries, loader }) {
  const paths = libraries.map((directory) => `$root/${directory}`).join(':')
  const start =
    loader === null
      ? `LD_LIBRARY_PATH="${paths}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$root/${program}" "$@"`
      : `exec "$root/${loader}" --library-path "${paths}" "$root/${program}" "$@"`
  // Also where it was called by a symbolic link.
  const find = 'file=$0\n[ ! -L "$file" ] || file=$(readlink -f "$file")'
  return `#!/bin/sh\n${find}\nroot="\${file%/*}/../root"\n${start}\n`
}

function filesBelow(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

/** Renames the copy to its place, unless another start was faster. Returns the place. */
function put(copy, place, name) {
  for (;;) {
    try {
      renameSync(copy, place)
      return place
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      if (isRedisNewEnough(redisVersionOf(join(place, 'bin', name)))) return place
      // For example a copy of before the system was upgraded.
      rmSync(place, { recursive: true, force: true })
    }
  }
}

function removeLeftovers(cache) {
  for (const name of readdirSync(cache).filter((one) => one.startsWith(TEMPORARY))) {
    const changed = statSync(join(cache, name), { throwIfNoEntry: false })
    if (changed !== undefined && Date.now() - changed.mtimeMs > LEFTOVER_MINUTES * 60_000)
      rmSync(join(cache, name), { recursive: true, force: true })
  }
}

/** apt-get reads the lower-case names of variables of proxies alone, and prints in the language of the user. */
function aptEnvironment(env) {
  const proxies = ['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => {
    const value = env[name] || env[name.toUpperCase()]
    return value ? [[name, value]] : []
  })
  return { ...env, ...Object.fromEntries(proxies), LC_ALL: 'C', LANGUAGE: 'C' }
}

function isOnPath(program, env) {
  const directories = (env.PATH || '').split(delimiter)
  return directories.some((directory) => existsSync(join(directory, program)))
}

/** Never fails: returns the exit status, null without one, and what was printed. */
function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const limit = { timeout: DOWNLOAD_MINUTES_MAX * 60_000, killSignal: 'SIGKILL' }
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...limit,
      ...options,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    child.on('error', (error) => resolve({ status: null, output: `E: ${error.message}` }))
    child.on('close', (status) => resolve({ status, output }))
  })
}
