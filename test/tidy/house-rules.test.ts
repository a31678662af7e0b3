/** House rules as tests, each with the sentence that explains it. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  files,
  isTest,
  matchingLines,
  productSources,
  read,
  root,
  sources,
} from '../support/tree.ts'

describe('house rules', () => {
  it('tests are not retried: a flake is a bug', () => {
    expect(matchingLines(sources, /\bretry: *[1-9]/)).toEqual([])
  })

  it('tests expect the status of an answer with `toAnswer`, which shows the body of an unexpected one', () => {
    const bare = new RegExp(`\\.status\\)\\.${'toBe'}\\(`)
    expect(matchingLines(sources.filter(isTest), bare)).toEqual([])
  })

  it('only one file declares and looks for requirements of tests', () => {
    const tests = sources.filter((file) => isTest(file) || file.startsWith('cluster/src/testing/'))
    // start-cluster.ts is part of the product; bootstrap.integration.test.ts sets these variables for another process,
    // and programs.mjs installs what requirements.ts looks for.
    const owners =
      /^(packages\/testkit\/src\/requirements|test\/programs\.mjs$|cluster\/src\/(testing\/start-cluster|bootstrap\.integration\.test)\.ts$)/
    const looking =
      /env(\.|\[')(CI|CHROMIUM|REDIS_SERVER|QS_COMETBFT)\b|\b(promtool|python3|openssl)', \[/
    expect(
      matchingLines(
        tests.filter((file) => !owners.test(file)),
        looking,
      ),
    ).toEqual([])
  })

  it('code uses the Random port for randomness, so that runs can be repeated', () => {
    const call = new RegExp(`Math\\.${'random'}\\(`)
    expect(matchingLines(sources, call)).toEqual([])
  })

  it('signals are combined by `linkedController`, which lets go of them', () => {
    expect(matchingLines(productSources, /AbortSignal\.any\(/)).toEqual([])
  })

  it('the limit of a length has one name and one declaration, which others import', () => {
    const declaration = /^(?:export )?const ([A-Z_]+_LENGTH_MAX) =/
    const declarations = matchingLines(productSources, declaration)
    const nameOf = (hit: string) => declaration.exec(hit.slice(hit.indexOf(' ') + 1))?.[1]
    const names = declarations.map(nameOf)
    expect(names).toContain('ENTRY_NAME_LENGTH_MAX')
    expect(
      declarations.filter((hit) => names.filter((name) => name === nameOf(hit)).length > 1),
    ).toEqual([])
  })

  it('every to-do comment has an issue number', () => {
    const bare = new RegExp(
      `\\b(${['TO', 'DO'].join('')}(?!\\(#\\d+\\))|${['FIX', 'ME'].join('')}|${['X', 'XX'].join('')})\\b`,
    )
    expect(matchingLines(sources, bare)).toEqual([])
  })

  it('interpretation is deterministic: no clock, no locale, no floating point (Rule 1)', () => {
    const ledger = productSources.filter((file) => file.startsWith('packages/ledger/src/'))
    const banned =
      /\bDate\b(?!\.ts)|Math\.(?!floor|ceil|min|max)|localeCompare|toLocale|Intl\.|toLowerCase|toUpperCase|parseFloat|new URL\(|normalize\(/
    const code = (line: string) => !/^[^ ]+ (\*|\/\/|\/\*)/.test(line)
    expect(
      matchingLines(
        ledger.filter((file) => !file.includes('/testing/')),
        banned,
      ).filter(code),
    ).toEqual([])
  })

  it('every workspace has a README', () => {
    const workspaces = files.filter((file) =>
      /^(packages\/[^/]+|apps\/[^/]+|cluster|sdk)\/package\.json$/.test(file),
    )
    expect(
      workspaces.map(dirname).filter((folder) => !existsSync(join(root, folder, 'README.md'))),
    ).toEqual([])
  })

  it('the top level has only known folders, documents and configuration files', () => {
    const known =
      /^(apps|packages|cluster|sdk|test|docs|deploy|[A-Z]+\.md|LICENSE|package(-lock)?\.json|\..*|build\.mjs|[\w.-]+\.(json|yaml|config\.ts))$/
    const top = new Set(files.map((file) => file.split('/', 1)[0] ?? ''))
    expect([...top].filter((name) => !known.test(name))).toEqual([])
    for (const name of ['LICENSE', 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'])
      expect(top).toContain(name)
  })

  it('every package.json has the license Apache-2.0', () => {
    const packages = files.filter((file) => /(^|\/)package\.json$/.test(file))
    const license = (file: string) => (JSON.parse(read(file)) as { license?: string }).license
    expect(packages.filter((file) => license(file) !== 'Apache-2.0')).toEqual([])
  })

  it("the code blocks of the SDK's README equal its examples, which CI runs", () => {
    const examples = files.filter((file) => /^sdk\/examples\/[^/]+$/.test(file)).map(read)
    const blocks = [...read('sdk/README.md').matchAll(/```ts\n([\s\S]*?)```/g)]
    expect(blocks.map(([, block]) => block).sort()).toEqual(examples.sort())
  })

  it("the addresses in the SDK's README equal the default ports of a cluster", () => {
    const ports = read('cluster/src/rig/ports.ts')
    const base = Number(/DEFAULT_BASE_PORT = (\d+)/.exec(ports)?.[1])
    const port = (kind: string) =>
      base + Number(new RegExp(`${kind}.*basePort \\+ (\\d+)`).exec(ports)?.[1])
    const text = read('sdk/README.md')
    for (const [variable, kind] of [
      ['SEED', 'nodes:'],
      ['VALIDATOR', 'validator:'],
    ] as const) {
      const named = [
        ...text.matchAll(new RegExp(`${variable}(?: = '|=)http://127.0.0.1:(\\d+)`, 'g')),
      ]
      expect(named.length, variable).toBeGreaterThan(2)
      for (const [, found] of named) expect(Number(found), variable).toBe(port(kind))
    }
  })

  it('only a MemberSet reads the members of a genesis, which will change with the offset', () => {
    const owners = /^packages\/verifier\/src\/genesis\/(?:member-set|parse-genesis)\.ts$/
    const others = productSources.filter(
      (file) => !owners.test(file) && !file.includes('/testing/'),
    )
    const reading =
      /[gG]enesis\.nodes\b|\bnodes\b[^{}]*\} = (?:\w+\.)*[gG]enesis\b|\bnodes\b[^{}]*\}: Genesis\b|genesis: \{[^}]*\bnodes\b|Genesis\['nodes'\]/
    expect(matchingLines(productSources, reading).length).toBeGreaterThan(0)
    expect(matchingLines(others, reading)).toEqual([])
  })

  it('the folders of a replica import downwards, from ingest to storage', () => {
    const folders = ['storage', 'reads', 'state-tree', 'snapshot', 'clean-up', 'ingest']
    const upwards = folders.flatMap((folder, at) => {
      const own = productSources.filter((file) =>
        file.startsWith(`packages/replica/src/${folder}/`),
      )
      expect(own.length, folder).toBeGreaterThan(1)
      const above = folders.slice(at + 1).join('|')
      return above === '' ? [] : matchingLines(own, new RegExp(`from '\\.\\./(?:${above})/`))
    })
    expect(upwards).toEqual([])
  })

  it('what operators run knows no faults: the rig adds them (Rule 9)', () => {
    const product = productSources.filter((file) =>
      /^packages\/(?:supervisor|operator)\//.test(file),
    )
    expect(product.length).toBeGreaterThan(20)
    expect(
      matchingLines(product, /QS_FAULT|\b[fF]ault(?:s|y)?(?:Sockets?|File|Runner|Spec)/),
    ).toEqual([])
  })

  it('the console imports only types, words and a median of our packages, no server code', () => {
    const page = productSources.filter((file) => file.startsWith('apps/console/'))
    const ours = /(from|import\() ?'(@quorumscan\/|quorumscan)/
    expect(page.length).toBeGreaterThan(5)
    expect(
      matchingLines(page, ours).filter(
        (hit) =>
          !/ import type |'quorumscan\/view'|'@quorumscan\/(?:errors\/node-words|base\/median)'/.test(
            hit,
          ),
      ),
    ).toEqual([])
  })

  it('one version of a dependency in the whole repository, except the compiler of the SDK', () => {
    const versions = new Map<string, Set<string>>()
    for (const file of files.filter((name) => name.endsWith('package.json'))) {
      const { dependencies = {}, devDependencies = {} } = JSON.parse(read(file)) as Record<
        string,
        Record<string, string>
      >
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
        versions.set(name, (versions.get(name) ?? new Set()).add(version))
    }
    const several = [...versions].filter(([name, set]) => set.size > 1 && name !== 'typescript')
    expect(several.map(([name, set]) => `${name}: ${[...set].join(', ')}`)).toEqual([])
  })
})
