/** Parts of `npm run test:long` have all long tests, and test/long.json records when each part passed last. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDirectory } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { type LongPart, PARTS } from '../support/long-parts.ts'
import {
  type Age,
  createHistory,
  overdue,
  type Pass,
  pickPart,
  planParts,
} from '../support/long-passes.ts'
import { files, read } from '../support/tree.ts'

const tests = files.filter((file) => /^(?!test\/tidy\/).*\.test\.ts$/.test(file))
const isOfPart = (file: string) => PARTS.some((part) => part.files.includes(file))

/** The literal tags of each test of a file. */
const tagsIn = (file: string) =>
  [...read(file).matchAll(/\btags: \[([^\]]*)\]|@module-tag (\S+)/g)].map(([, list, tag]) =>
    tag === undefined ? [...(list ?? '').matchAll(/'([^']+)'/g)].map(([, name]) => name) : [tag],
  )

describe('parts of long tests', () => {
  it('have different names, and files that exist', () => {
    expect(new Set(PARTS.map(({ name }) => name)).size).toBe(PARTS.length)
    for (const path of PARTS.flatMap((part) => [...part.files, ...(part.changes ?? [])]))
      expect(
        files.some((file) => file === path || file.startsWith(`${path}/`)),
        path,
      ).toBe(true)
  })

  it('list each file with tests that are long or have more cases in long runs', () => {
    const long = tests.filter(
      (file) =>
        /\b(?:cases\(|isLong\b)/.test(read(file)) ||
        tagsIn(file).some((tags) => tags.includes('long')),
    )
    expect(long.length).toBeGreaterThan(10)
    expect(long.filter((file) => !isOfPart(file))).toEqual([])
  })

  it('list each file with a test that has their tag', () => {
    for (const file of tests)
      for (const tag of tagsIn(file).flat()) {
        const part = PARTS.find(({ name }) => name === tag)
        if (part !== undefined) expect(part.files, `${tag} of ${file}`).toContain(file)
      }
  })

  it('have a row in test/long.json only if they exist', () => {
    const names = PARTS.map(({ name }) => name)
    expect(
      Object.keys(JSON.parse(read('test/long.json'))).filter((name) => !names.includes(name)),
    ).toEqual([])
  })
})

describe('the age of a pass', () => {
  const part = (name: string): LongPart => ({ name, shows: '', files: [] })

  it('is at most 30 commits, unless the history is missing', () => {
    const ages: Readonly<Record<string, Age>> = {
      new: 0,
      last: 30,
      old: 31,
      never: 'no pass',
      'just listed': 'no pass',
      shallow: 'unknown',
    }
    const parts = Object.keys(ages).map(part)
    const ageOf = ({ name }: LongPart) => ages[name] ?? 0
    const listedFor = ({ name }: LongPart) => (name === 'just listed' ? 30 : 31)
    expect(overdue(parts, { ageOf, listedFor })).toEqual([
      'the last pass of old is 31 commits old (at most 30)',
      'never has no pass in test/long.json',
    ])
  })

  it('counts a merge as one commit, and is unknown where a shallow clone ends', () => {
    using directory = createDirectory()
    const git = (...args: readonly string[]) => {
      const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
      const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' }
      const options = { cwd: directory.path, encoding: 'utf8', env, stdio: 'pipe' } as const
      return execFileSync('git', [...who, ...args], options).trim()
    }
    const commit = (message: string) => {
      git('commit', '--allow-empty', '--message', message)
      return git('rev-parse', 'HEAD')
    }
    git('init', '--quiet', '--initial-branch', 'main')
    const first = commit('first')
    git('checkout', '--quiet', '-b', 'branch')
    const onBranch = [commit('one'), commit('two'), commit('three')][2]
    git('checkout', '--quiet', 'main')
    commit('other')
    git('merge', '--quiet', '--no-ff', '--message', 'x', 'branch')
    const ageOf = (path: string, hash = '') =>
      createHistory(path).ageOf({ commit: hash, date: '', seconds: 0, figures: {} } satisfies Pass)
    expect(ageOf(directory.path, first)).toBe(2)
    expect(ageOf(directory.path, onBranch)).toBe(2)
    expect(ageOf(directory.path, git('rev-parse', 'HEAD'))).toBe(0)
    expect(ageOf(directory.path, 'ab'.repeat(20))).toBe('no pass')
    expect(createHistory(directory.path).ageOf(undefined)).toBe('no pass')

    const shallow = `${directory.path}/shallow`
    git('clone', '--quiet', '--depth', '1', `file://${directory.path}`, shallow)
    expect(ageOf(shallow, first)).toBe('unknown')
    expect(ageOf(shallow, git('rev-parse', 'HEAD'))).toBe(0)
  })

  it('of a part without a pass counts from the commit that listed it', () => {
    using directory = createDirectory()
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: directory.path,
        encoding: 'utf8',
      }).trim()
    const commit = (list: string) => {
      mkdirSync(join(directory.path, 'test/support'), { recursive: true })
      writeFileSync(join(directory.path, 'test/support/long-parts.ts'), list)
      git('add', '.')
      git('commit', '--quiet', '--allow-empty', '--message', 'one')
    }
    git('init', '--quiet', '--initial-branch=main')
    commit("name: 'old'")
    git('checkout', '--quiet', '-b', 'branch')
    commit("name: 'old'\nname: 'new'")
    git('checkout', '--quiet', 'main')
    git('merge', '--quiet', '--no-ff', '--message', 'merge', 'branch')
    commit("name: 'old'\nname: 'new'")
    const { listedFor } = createHistory(directory.path)
    expect(['old', 'new', 'unlisted'].map((name) => listedFor(part(name)))).toEqual([2, 1, 0])
  })

  it('ends when a file that the part names changes', () => {
    using directory = createDirectory()
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: directory.path,
        encoding: 'utf8',
      }).trim()
    const commit = (file: string) => {
      writeFileSync(join(directory.path, file), '')
      git('add', file)
      git('commit', '--quiet', '--message', file)
      return { commit: git('rev-parse', 'HEAD'), date: '', seconds: 0, figures: {} }
    }
    git('init', '--quiet')
    const passes = [commit('start.mjs'), commit('other.mjs')]
    const { isAnyChanged } = createHistory(directory.path)
    expect(passes.map((pass) => isAnyChanged(['start.mjs'], pass))).toEqual([false, false])
    expect(passes.map((pass) => isAnyChanged(['start.mjs', 'other.mjs'], pass))).toEqual([
      true,
      false,
    ])
    expect(isAnyChanged([], undefined)).toBe(false)
    expect(isAnyChanged(['start.mjs'], undefined)).toBe(false)
  })

  it('decides what CI runs: changed parts, old ones and the picked one, while there is time', () => {
    const ages: Readonly<Record<string, Age>> = {
      changed: 1,
      old: 40,
      older: 50,
      picked: 2,
      fresh: 3,
      costly: 31,
      never: 'no pass',
    }
    const parts = Object.keys(ages).map(part)
    const planned = (seconds: Readonly<Record<string, number>>) => {
      const plan = planParts(parts, {
        ageOf: ({ name }) => ages[name] ?? 0,
        listedFor: () => 31,
        isChanged: ({ name }) => name === 'changed',
        secondsOf: ({ name }) => seconds[name] ?? 100,
        picked: parts[3] ?? part(''),
      })
      return [plan.parts.map(({ name }) => name), plan.overdue]
    }
    const order = ['changed', 'older', 'old', 'costly', 'picked']
    const never = 'never has no pass in test/long.json'
    expect(planned({})).toEqual([order, [never]])
    // What takes less still runs, and the first part always.
    expect(planned({ costly: 700 })).toEqual([
      ['changed', 'older', 'old', 'picked'],
      ['the last pass of costly is 31 commits old (at most 30)', never],
    ])
    expect(planned({ changed: 5000 })[0]).toEqual(['changed'])
  })

  it('is renewed in CI by the part that the commit picks', () => {
    const parts = [part('a'), part('b')]
    const picked = ['00', '01', '02', 'ff'].map((hash) => pickPart(parts, hash).name)
    expect(picked).toEqual(['a', 'b', 'a', 'b'])
  })
})
