/** `backup` and `restore` with an identity of age and a directory of backups. A super-validator's need no Redis. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirectory } from '@quorumscan/operator'
import { createGenesis, makeMember } from '@quorumscan/operator/ceremony'
import { captureOutput, directoryOfFile } from '@quorumscan/testkit/fixtures'
import { expect, it } from 'vitest'
import { runCommandLine } from './program.ts'
import { testEnvironment } from './testing/environment.ts'

const root = directoryOfFile()
const at = (...path: string[]) => join(root, ...path)
/** As `age-keygen` made them. */
const IDENTITY = 'AGE-SECRET-KEY-17JD9ST3ALNGNHU0J2W7ENYALNGENY7A5Y2YA00ZG9HZK57L00S4Q6G39V8'
const RECIPIENT = 'age1tmlm20tx79aaheyanku3yvqc0l2lvcadj4xg45tgyh03t5ew6y3slzmdy5'

async function type(line: string): Promise<string> {
  using output = captureOutput()
  expect(await runCommandLine(line.split(' '), testEnvironment())).toBe(0)
  return output.stdout
}

it('writes encrypted backups into a directory, keeps the newest, and restores it', async () => {
  for (const path of ['members', 'backups']) mkdirSync(at(path))
  const enroll = (role: 'super-validator' | 'synchronizer', name: string, url: string | null) => {
    const directory = dataDirectory(at(name))
    const member = makeMember(directory, role, {
      name,
      createdAtMicros: 1,
      url,
      engineAddress: null,
    })
    copyFileSync(directory.memberFile(name), at('members', `${name}.member.json`))
    return member
  }
  const members = [
    enroll('super-validator', 'sv-1', 'https://sv-1.example'),
    enroll('synchronizer', 'orderer', null),
  ]
  const genesis = createGenesis(members, { driver: 'redis', overrides: {} })
  writeFileSync(at('genesis.json'), JSON.stringify(genesis))
  writeFileSync(at('key.txt'), `# public key: ${RECIPIENT}\n${IDENTITY}\n`)
  const variables = [
    'QS_NAME=sv-1',
    'QS_PORT=4611',
    'QS_LOG=https://orderer.example',
    `QS_DATA_DIR=${at('sv-1')}`,
    `QS_GENESIS=${at('genesis.json')}`,
    `QS_MEMBERS=${at('members')}`,
    `QS_BACKUPS=${at('backups')}`,
  ]
  const config = at('sv.env')
  writeFileSync(config, variables.join('\n'))
  const old = at('backups', 'sv-1-20200101T000000Z.backup')
  writeFileSync(old, '')

  const plain = JSON.parse(await type(`backup sv --config ${config} --json`))
  expect(plain).toMatchObject({ recipient: null, deleted: [] })
  expect(plain.file).toMatch(/sv-1-\d{8}T\d{6}Z\.backup$/)
  writeFileSync(config, [...variables, `QS_BACKUP_RECIPIENT=${RECIPIENT}`].join('\n'))
  const made = JSON.parse(await type(`backup sv --config ${config} --keep 2 --json`))
  expect(made).toMatchObject({ recipient: RECIPIENT, deleted: [old] })
  expect(readdirSync(at('backups'))).toHaveLength(2)
  expect(readFileSync(made.file, 'latin1')).toMatch(/^age-encryption\.org\/v1/)

  const restore = `restore ${made.file} --to ${at('again')}`
  await expect(type(restore)).rejects.toThrow('is encrypted: name the file of its identity')
  await type(`${restore} --identity ${at('key.txt')}`)
  for (const kind of ['scan', 'operator', 'voting', 'engine'])
    expect(readFileSync(at('again', 'keys', `sv-1.${kind}`))).toEqual(
      readFileSync(at('sv-1', 'keys', `sv-1.${kind}`)),
    )
  const restored = readFileSync(at('again', 'run.env'), 'utf8')
  expect(restored).toContain(`QS_BACKUP_RECIPIENT=${RECIPIENT}`)
  expect(restored).not.toContain('QS_BACKUPS')
})
