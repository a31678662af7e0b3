import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requestReload } from '@quorumscan/base'
import { nodeIdOf } from '@quorumscan/cometbft'
import { parsePeersFile } from '@quorumscan/config'
import { createDirectory, createManualClock } from '@quorumscan/testkit'
import { memberOf } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { makeMember, type Role, reissueMember } from '../ceremony/member.ts'
import { dataDirectory } from '../data-directory.ts'
import { createGenesis } from '../genesis.ts'
import { type OperatorConfig, readMembers } from './operator-config.ts'
import { watchMembers } from './watch-members.ts'

/** `sv-1` of two super-validators that order together, with the member files of both. */
function setUp() {
  const temporary = createDirectory()
  const at = (...names: string[]) => join(temporary.path, ...names)
  const memberDirectory = at('members')
  mkdirSync(memberDirectory)
  const directoryOf = (name: string) => dataDirectory(at(name))
  const fileOf = (name: string) => join(memberDirectory, `${name}.member.json`)
  const show = (name: string) => copyFileSync(directoryOf(name).memberFile(name), fileOf(name))
  const make = (role: Role, name: string) => {
    const isSv = role === 'super-validator'
    const url = isSv ? `https://${name}.example` : null
    const engineAddress = isSv ? `${name}.example:26656` : null
    return makeMember(directoryOf(name), role, { name, createdAtMicros: 1, url, engineAddress })
  }
  const svs = ['sv-1', 'sv-2'].map((name) => make('super-validator', name))
  for (const { name } of svs) show(name)
  const config: OperatorConfig = {
    runs: 'sv',
    name: 'sv-1',
    directory: directoryOf('sv-1'),
    genesis: createGenesis(svs, { driver: 'cometbft', overrides: {} }),
    genesisFile: '',
    memberDirectory,
    members: readMembers(memberDirectory),
    variables: {},
    backupDirectory: null,
    backupRecipient: null,
    operatorAddress: null,
    consoleTokenFile: null,
    synchronizerPort: 1,
    known: new Set(),
  }
  const clock = createManualClock()
  const reports: string[] = []
  const watch = watchMembers(config, { clock, report: (sentence) => reports.push(sentence) })
  return {
    fileOf,
    reports,
    show,
    make,
    directoryOf,
    /** The contents of the file for the processes, and what was reported, after the next look. */
    async next() {
      await clock.advance(0)
      await clock.advance(5_000)
      const peers = parsePeersFile(readFileSync(config.directory.peersFile, 'utf8'))
      return { ...peers, reports: reports.splice(0) }
    },
    async [Symbol.asyncDispose]() {
      await watch[Symbol.asyncDispose]()
      temporary[Symbol.dispose]()
    },
  }
}

it('admits and removes a validator by its member file', async () => {
  await using world = setUp()
  const { keys } = world.make('validator', 'v')
  expect(await world.next()).toMatchObject({ engines: { followers: [] }, reports: [] })
  world.show('v')
  expect(await world.next()).toMatchObject({
    engines: { followers: [nodeIdOf(String(memberOf(keys, 'engine')))] },
    reports: ['the validator v was added to the member files'],
  })
  rmSync(world.fileOf('v'))
  expect(world.reports).toEqual([])
  requestReload()
  expect(world.reports).toEqual(['the validator v was removed from the member files'])
  expect(await world.next()).toMatchObject({ engines: { followers: [] } })
})

it('follows a member to the addresses of its newest file, and ignores older files', async () => {
  await using world = setUp()
  const old = readFileSync(world.fileOf('sv-2'))
  const url = 'https://moved.example'
  reissueMember(world.directoryOf('sv-2'), 'sv-2', { url, engineAddress: 'moved.example:26656' })
  world.show('sv-2')
  const moved = {
    nodes: [{ name: 'sv-1' }, { name: 'sv-2', url }],
    engines: { peers: [expect.stringMatching(/@moved\.example:26656$/)] },
  }
  const reports = ['the super-validator sv-2 has other addresses']
  expect(await world.next()).toMatchObject({ ...moved, reports })
  writeFileSync(world.fileOf('sv-2'), old)
  expect(await world.next()).toMatchObject({ ...moved, reports: [] })
})

it('changes nothing while a file is invalid or missing, and reports it once', async () => {
  await using world = setUp()
  world.make('validator', 'v')
  world.show('v')
  const admitted = { engines: { followers: [expect.any(String)] } }
  expect(await world.next()).toMatchObject(admitted)
  const text = readFileSync(world.fileOf('v'), 'utf8')
  writeFileSync(world.fileOf('v'), text.replace('"v"', '"w"'))
  const why = /are invalid, and nothing changes until they are corrected: .*did not sign it/
  expect(await world.next()).toMatchObject({ ...admitted, reports: [expect.stringMatching(why)] })
  expect(await world.next()).toMatchObject({ ...admitted, reports: [] })
  rmSync(world.fileOf('v'))
  rmSync(world.fileOf('sv-2'))
  const missing = expect.stringContaining('has no file of sv-2')
  expect(await world.next()).toMatchObject({ ...admitted, reports: [missing] })
  world.show('sv-2')
  expect(await world.next()).toMatchObject({ engines: { followers: [] } })
})
