/** The ceremony as its operators type it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKeyPair, createSystemClock } from '@quorumscan/base'
import { parseGenesis } from '@quorumscan/consensus'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { writeMember } from '../ceremony/member.ts'
import { hashGenesis } from '../genesis.ts'
import { runCommandLine } from './program.ts'

const directory = mkdtempSync(join(tmpdir(), 'qs-ceremony-'))
afterAll(() => rmSync(directory, { recursive: true }))
afterEach(() => vi.restoreAllMocks())

/** What a command prints. */
async function type(line: string): Promise<string> {
  let text = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk)
    return true
  })
  try {
    const environment = { cwd: directory, redisServer: 'redis-server' }
    expect(await runCommandLine(line.split(' '), environment)).toBe(0)
    return text.trimEnd()
  } finally {
    write.mockRestore()
  }
}

const at = (...path: string[]) => join(directory, ...path)

it('four operators make a network of which everybody sees the same hash', async () => {
  const members: string[] = []
  for (const name of ['sv-1', 'sv-2', 'sv-3', 'sv-4']) {
    const { memberFile, keyFiles } = JSON.parse(
      await type(`keys new --name ${name} --out ${at(name)} --url https://${name}.example --json`),
    )
    expect(memberFile).toBe(at(name, `${name}.member.json`))
    expect(keyFiles).toHaveLength(4)
    members.push(memberFile)
  }
  const create = 'genesis create --ordering cometbft --set names.entryFeeUsd=2 --out'
  const hash = await type(`${create} ${at('a.json')} ${members.join(' ')}`)
  expect(await type(`${create} ${at('b.json')} ${members.toReversed().join(' ')}`)).toBe(hash)
  const document = readFileSync(at('a.json'), 'utf8')
  expect(readFileSync(at('b.json'), 'utf8')).toBe(document)
  const genesis = parseGenesis(JSON.parse(document))
  expect(hashGenesis(genesis)).toBe(hash)
  expect(genesis.names.entryFeeUsd).toBe('2.0000000000')

  // Once more changes nothing, and another network overwrites nothing.
  expect(await type(`${create} ${at('a.json')} ${members.join(' ')}`)).toBe(hash)
  await expect(type(`${create} ${at('a.json')} ${members.slice(1).join(' ')}`)).rejects.toThrow(
    'holds another one',
  )
  expect(readFileSync(at('a.json'), 'utf8')).toBe(document)

  const words = await type(`genesis verify ${at('a.json')} ${members.join(' ')}`)
  expect(words).toContain(hash)
  expect(words).toContain('These members make it, by these rules.')
  await expect(
    type(`genesis verify ${at('a.json')} ${members.slice(1).join(' ')}`),
  ).rejects.toThrow('is not what these members make')
  const altered = { ...genesis, recordTime: genesis.recordTime + 1 }
  writeFileSync(at('altered.json'), JSON.stringify(altered))
  await expect(type(`genesis verify ${at('altered.json')} ${members.join(' ')}`)).rejects.toThrow(
    `that would be ${hash}`,
  )
})

it('no member loses its keys to a second `keys new`', async () => {
  const keys = () => readFileSync(at('own', 'keys', 'v.participant'), 'utf8')
  await type(`keys new --name v --role validator --out ${at('own')}`)
  const before = keys()
  await expect(type(`keys new --name v --role validator --out ${at('own')}`)).rejects.toThrow(
    'is there already',
  )
  expect(keys()).toBe(before)
})

it('a member file of the future is refused, and a bad name too', async () => {
  const createdAtMicros = createSystemClock().nowMicros() + 3_600_000_000
  const input = { name: 'sv-9', createdAtMicros, url: null, engineAddress: null }
  const keys = {
    scan: createKeyPair(),
    operator: createKeyPair(),
    voting: createKeyPair(),
    engine: createKeyPair(),
  }
  writeFileSync(at('late.json'), writeMember('super-validator', input, keys))
  const create = `genesis create --ordering cometbft --out ${at('f.json')} ${at('late.json')}`
  await expect(type(create)).rejects.toThrow('of the future')
  await expect(type(`keys new --name ../x --out ${at('x')}`)).rejects.toThrow('a name is 1 to 32')
})
