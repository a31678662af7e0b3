/** The commands with which operators create a genesis together. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKeyPair, createSystemClock } from '@quorumscan/base'
import { writeMember } from '@quorumscan/operator'
import { hashGenesis } from '@quorumscan/operator/ceremony'
import { captureOutput, directoryOfFile } from '@quorumscan/testkit/fixtures'
import { parseGenesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { runCommandLine } from './program.ts'
import { testEnvironment } from './testing/environment.ts'

const directory = directoryOfFile()

/** The output of a command. */
async function type(line: string): Promise<string> {
  using output = captureOutput()
  const environment = testEnvironment()
  expect(await runCommandLine(line.split(' '), environment)).toBe(0)
  return output.stdout.trimEnd()
}

const at = (...path: string[]) => join(directory, ...path)

it('four operators create a genesis, and each reads the same genesis hash', async () => {
  const members: string[] = []
  for (const name of ['sv-1', 'sv-2', 'sv-3', 'sv-4']) {
    const { memberFile, keyFiles } = JSON.parse(
      await type(`keys new --name ${name} --out ${at(name)} --url https://${name}.example --json`),
    )
    expect(memberFile).toBe(at(name, `${name}.member.json`))
    expect(keyFiles).toHaveLength(4)
    members.push(memberFile)
  }
  const create = 'genesis create --ordering cometbft --set devnet=true names.entryFeeUsd=2 --out'
  const words = await type(`${create} ${at('a.json')} ${members.join(' ')}`)
  expect(words).toContain('is the genesis of sv-1, sv-2, sv-3, sv-4.')
  const [, hash = ''] = /^hash ([0-9a-f]{64})$/m.exec(words) ?? []
  expect(words).toMatch(/Compare the hash with the other operators by voice/)
  const again = await type(`${create} ${at('b.json')} ${members.toReversed().join(' ')} --json`)
  expect(JSON.parse(again)).toEqual({
    hash,
    coin: expect.objectContaining({ namePrice: '400.0000000000' }),
    warnings: [],
  })
  const document = readFileSync(at('a.json'), 'utf8')
  expect(readFileSync(at('b.json'), 'utf8')).toBe(document)
  const genesis = parseGenesis(JSON.parse(document))
  expect(hashGenesis(genesis)).toBe(hash)
  expect(genesis.names.entryFeeUsd).toBe('2.0000000000')

  // A repeated command changes nothing, and another network overwrites nothing.
  expect(await type(`${create} ${at('a.json')} ${members.join(' ')}`)).toContain(hash)
  await expect(type(`${create} ${at('a.json')} ${members.slice(1).join(' ')}`)).rejects.toThrow(
    'exists and holds another genesis: nothing was written',
  )
  expect(readFileSync(at('a.json'), 'utf8')).toBe(document)

  const verified = await type(`genesis verify ${at('a.json')} ${members.join(' ')}`)
  expect(verified).toContain(hash)
  expect(verified).toContain('The genesis matches these member files.')
  expect(verified.replace(/\s+/g, ' ')).toContain(
    'A name costs 2.0000000000 USD for 90d. From 30d before it expires it can be renewed, for another 90d at the same price.',
  )
  await expect(
    type(`genesis verify ${at('a.json')} ${members.slice(1).join(' ')}`),
  ).rejects.toThrow('but the genesis made of these files has the hash')
  const altered = { ...genesis, recordTime: genesis.recordTime + 1 }
  writeFileSync(at('altered.json'), JSON.stringify(altered))
  await expect(type(`genesis verify ${at('altered.json')} ${members.join(' ')}`)).rejects.toThrow(
    `but the genesis made of these files has the hash ${hash}`,
  )
})

it('`member file` issues the file again, and the genesis still matches it', async () => {
  const members = ['sv-1', 'orderer'].map((name) => at('moving', name, `${name}.member.json`))
  const keys = (name: string, role: string) =>
    type(`keys new --name ${name} --role ${role} --out ${at('moving', name)}`)
  await keys('sv-1', 'super-validator')
  await keys('orderer', 'synchronizer')
  const genesis = at('moving', 'genesis.json')
  await type(`genesis create ${members.join(' ')} --set devnet=true --out ${genesis}`)
  const command = `member file --name sv-1 --out ${at('moving', 'sv-1')}`
  const url = 'https://moved.example'
  expect(JSON.parse(await type(`${command} --url ${url} --json`))).toEqual({
    memberFile: members[0],
    url,
    engineAddress: null,
    sequence: 1,
  })
  expect(readFileSync(members[0] ?? '', 'utf8')).toContain(url)
  expect(await type(`genesis verify ${genesis} ${members.join(' ')}`)).toContain(
    'The genesis matches these member files.',
  )
  await expect(type(command)).rejects.toThrow('nothing was changed: name a new address')
})

it('a second `keys new` does not overwrite the keys of a member', async () => {
  const keys = () => readFileSync(at('own', 'keys', 'v.participant'), 'utf8')
  await type(`keys new --name v --role validator --out ${at('own')}`)
  const before = keys()
  await expect(type(`keys new --name v --role validator --out ${at('own')}`)).rejects.toThrow(
    'has its keys already, and nothing was changed',
  )
  expect(keys()).toBe(before)
})

it('refuses a member file of a later version, and an invalid name', async () => {
  const createdAtMicros = createSystemClock().nowMicros() + 3_600_000_000
  const input = { name: 'sv-9', createdAtMicros, url: null, engineAddress: null }
  const keys = {
    scan: createKeyPair(),
    operator: createKeyPair(),
    voting: createKeyPair(),
    engine: createKeyPair(),
  }
  writeFileSync(at('late.json'), writeMember('super-validator', input, keys))
  const create = `genesis create ${at('late.json')} --ordering cometbft --out ${at('f.json')}`
  await expect(type(`${create} --set devnet=true`)).rejects.toThrow(
    'in the future: a clock is wrong',
  )
  await expect(type(create)).rejects.toThrow(/--set devnet=true.*--set devnet=false/)
  await expect(type(`keys new --name ../x --out ${at('x')}`)).rejects.toThrow(
    '--name "../x" must be 1 to 32',
  )
})
