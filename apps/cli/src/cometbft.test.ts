/** `cometbft vote` of one operator. packages/operator tests what it does to the engine. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirectory } from '@quorumscan/operator'
import { createGenesis, makeMember } from '@quorumscan/operator/ceremony'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { expect, it } from 'vitest'
import { runCommandLine } from './program.ts'
import { testEnvironment } from './testing/environment.ts'

const root = directoryOfFile()
const members = join(root, 'members')
mkdirSync(members)
const directory = dataDirectory(join(root, 'sv-1'))
const member = makeMember(directory, 'super-validator', {
  name: 'sv-1',
  createdAtMicros: 1,
  url: 'https://sv-1.example',
  engineAddress: 'sv-1.example:26656',
})
copyFileSync(directory.memberFile('sv-1'), join(members, 'sv-1.member.json'))
const genesisFile = join(root, 'genesis.json')
writeFileSync(
  genesisFile,
  JSON.stringify(createGenesis([member], { driver: 'cometbft', overrides: {} })),
)
const config = join(root, 'sv.env')
writeFileSync(
  config,
  [
    'QS_NAME=sv-1',
    `QS_DATA_DIR=${directory.path}`,
    'QS_SYNCHRONIZER_PORT=4624',
    `QS_GENESIS=${genesisFile}`,
    `QS_MEMBERS=${members}`,
  ].join('\n'),
)
const vote = (...words: readonly string[]) =>
  runCommandLine(['cometbft', 'vote', ...words], testEnvironment())

it('is about the member of the configuration, and about no other', async () => {
  // Its engine has a record of signed votes.
  await expect(vote('--config', config)).rejects.toThrow('the member has its record')
  await expect(vote('sv-2', '--config', config)).rejects.toThrow('of sv-1, not of sv-2')
  await expect(vote()).rejects.toThrow('name a node of the local cluster, or an operator')
})
