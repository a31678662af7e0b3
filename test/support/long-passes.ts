/** The last pass of each part of `npm run test:long`, as test/long.json records it. */
import { execFileSync } from 'node:child_process'
import type { LongPart } from './long-parts.ts'

/** CI runs a part whose last pass is older, and fails if it has no time for it. */
export const COMMITS_MAX = 30
/** What long parts may take in CI, as far as passes record it: the time of all that CI runs has a limit. */
export const CI_SECONDS_MAX = 900

export type Pass = {
  readonly commit: string
  /** Day in UTC. */
  readonly date: string
  readonly seconds: number
  /** Numbers of passed tests, and the figures that tests measured, by title. */
  readonly figures: Readonly<Record<string, unknown>>
}

export type Passes = Readonly<Record<string, Pass>>

/** Commits since the last pass. `unknown`: the clone does not have enough history to count them. */
export type Age = number | 'no pass' | 'unknown'

/** The file that lists the parts. */
const LIST = 'test/support/long-parts.ts'

/** Reads the history of a clone. */
export function createHistory(directory: string) {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  return {
    head: () => git('rev-parse', 'HEAD'),
    /** Whether files differ from the last commit, other than `except`. */
    isChanged: (except: string) => git('status', '--porcelain', '--', '.', `:!${except}`) !== '',
    /** Whether one of these files has changed since a pass. Also where its commit is missing. */
    isAnyChanged(files: readonly string[], pass: Pass | undefined): boolean {
      if (files.length === 0 || pass === undefined) return false
      try {
        return git('diff', '--name-only', pass.commit, 'HEAD', '--', ...files) !== ''
      } catch {
        return true
      }
    },
    /** Commits of the main line, in which a merge counts as one. */
    ageOf(pass: Pass | undefined): Age {
      if (pass === undefined) return 'no pass'
      try {
        return Number(git('rev-list', '--count', '--first-parent', `${pass.commit}..HEAD`))
      } catch {
        // This clone does not have the commit.
        return git('rev-parse', '--is-shallow-repository') === 'true' ? 'unknown' : 'no pass'
      }
    },
    /** Commits of the main line since the part was listed: for so long it may have had no pass. */
    listedFor({ name }: LongPart): number {
      const line = [
        'log',
        '--first-parent',
        '--diff-merges=first-parent',
        '--no-patch',
        '--format=%H',
      ]
      const commits = git(...line, `-Sname: '${name}'`, '--', LIST)
      const first = commits.split('\n').at(-1) ?? ''
      return first === ''
        ? 0
        : Number(git('rev-list', '--count', '--first-parent', `${first}..HEAD`))
    },
  }
}

/** A sentence for each part whose last pass is too old, or that has been listed for as long and has no pass. */
export function overdue(
  parts: readonly LongPart[],
  { ageOf, listedFor }: Pick<KnownParts, 'ageOf' | 'listedFor'>,
): string[] {
  return parts.flatMap((part) => {
    const age = ageOf(part)
    if (age === 'unknown') return []
    if (age === 'no pass')
      return listedFor(part) <= COMMITS_MAX ? [] : [`${part.name} has no pass in test/long.json`]
    if (age <= COMMITS_MAX) return []
    return [`the last pass of ${part.name} is ${age} commits old (at most ${COMMITS_MAX})`]
  })
}

/** What is known of the parts. */
type KnownParts = {
  readonly ageOf: (part: LongPart) => Age
  /** Commits since the part was listed. */
  readonly listedFor: (part: LongPart) => number
  readonly isChanged: (part: LongPart) => boolean
  readonly secondsOf: (part: LongPart) => number
  readonly picked: LongPart
}

export type Plan = {
  /** In this order. */
  readonly parts: readonly LongPart[]
  /** A sentence for each part that is too old, and for which there is no time. */
  readonly overdue: readonly string[]
}

/**
 * What CI runs: first the parts that are due because a file that they name has changed, then those whose last pass is too
 * old, the oldest first, then the one that the commit picks. A part for which the time is over is left out. The first pass of
 * a new part is made by hand: until then CI only counts how long it has been listed.
 */
export function planParts(parts: readonly LongPart[], known: KnownParts): Plan {
  const { ageOf, isChanged, secondsOf, picked } = known
  const commitsOf = (part: LongPart) => {
    const age = ageOf(part)
    return typeof age === 'number' ? age : 0
  }
  const passed = parts.filter((part) => ageOf(part) !== 'no pass')
  const changed = passed.filter(isChanged)
  const old = passed
    .filter((part) => commitsOf(part) > COMMITS_MAX)
    .sort((one, other) => commitsOf(other) - commitsOf(one))
  let seconds = 0
  const planned = [...new Set([...changed, ...old, picked])].filter((part) => {
    if (seconds > 0 && seconds + secondsOf(part) > CI_SECONDS_MAX) return false
    seconds += secondsOf(part)
    return true
  })
  return {
    parts: planned,
    overdue: overdue(
      parts.filter((part) => !planned.includes(part)),
      known,
    ),
  }
}

/** The part that CI runs for this commit. */
export function pickPart(parts: readonly LongPart[], commit: string): LongPart {
  const part = parts[Number(BigInt(`0x${commit}`) % BigInt(parts.length))]
  if (part === undefined) throw new RangeError('no part can run')
  return part
}
