/** Errors of the commands for operators: what happened, why, and what to do next. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirectory } from '@quorumscan/operator'
import { createGenesis, makeMember } from '@quorumscan/operator/ceremony'
import { captureOutput, directoryOfFile } from '@quorumscan/testkit/fixtures'
import { beforeAll, expect, it } from 'vitest'
import { main } from './main.ts'
import { testEnvironment } from './testing/environment.ts'

const root = directoryOfFile()
const at = (name: string) => join(root, name)
const members = at('members')

beforeAll(() => {
  mkdirSync(members)
  const enroll = (role: 'super-validator' | 'synchronizer', name: string) => {
    const directory = dataDirectory(at(name))
    const input = { name, createdAtMicros: 1, url: null, engineAddress: null }
    const member = makeMember(directory, role, input)
    copyFileSync(directory.memberFile(name), join(members, `${name}.member.json`))
    return member
  }
  const svs = ['sv-1', 'sv-2'].map((name) => enroll('super-validator', name))
  const orderer = enroll('synchronizer', 'orderer')
  for (const [name, shown, driver] of [
    ['redis.json', [...svs, orderer], 'redis'],
    ['cometbft.json', svs, 'cometbft'],
  ] as const)
    writeFileSync(at(name), JSON.stringify(createGenesis(shown, { driver, overrides: {} })))
  writeFileSync(at('file'), '{"a":1}\n')
  for (const [name, genesis] of [
    ['orderer.env', 'redis.json'],
    ['together.env', 'cometbft.json'],
  ] as const)
    writeFileSync(
      at(name),
      `QS_NAME=orderer\nQS_DATA_DIR=${at('orderer')}\nQS_GENESIS=${at(genesis)}\nQS_MEMBERS=${members}\nQS_PROT=1\n`,
    )
})

/** The output of a command on stderr, in one line, with its exit status; DIR is the directory of the test. */
async function type(line: string): Promise<string> {
  const listeners = process.stdout.listeners('error')
  using output = captureOutput()
  try {
    const code = await main(line.replaceAll('DIR', root).split(' '), testEnvironment())
    const said = output.stderr
    for (const each of said.split('\n')) expect(each.length, each).toBeLessThanOrEqual(200)
    const text = said.trim().replace(/\s+/g, ' ')
    return `${code} ${text.replaceAll(root, 'DIR')}`
  } finally {
    for (const listener of process.stdout.listeners('error'))
      if (!listeners.includes(listener)) process.stdout.off('error', listener as () => void)
  }
}

const SVS = 'DIR/members/sv-1.member.json DIR/members/sv-2.member.json'
const CREATE = `genesis create ${SVS} --ordering cometbft --out DIR/new.json --set devnet=true`

it.each([
  [
    'keys new --name ../x --out DIR/x --url a.example --engine-address a',
    '2 quorumscan: no keys were made: --name "../x" must be 1 to 32 of a-z, 0-9 and -, such as sv-1; --url "a.example" must be an https address in its normal form, without a slash at the end, such as https://sv-1.example:4611 (http is for this machine alone); --engine-address "a" must be host:port, such as sv-1.example:26656',
  ],
  [
    'keys new --name sv-1 --out DIR/sv-1',
    '2 quorumscan: DIR/sv-1/sv-1.member.json exists: sv-1 has its keys already, and nothing was changed. Give this file to the others, or name another directory with `--out`',
  ],
  [
    'keys new --name a --out DIR/file',
    '1 quorumscan: nothing can be written in DIR/file: it is read-only, or not a directory of this user (EEXIST). Name another directory',
  ],
  [
    // There mkdir fails with ENOENT, although the directory above exists.
    'keys new --name a --out /proc/quorumscan/a',
    '1 quorumscan: nothing can be written in /proc/quorumscan/a: it is read-only, or not a directory of this user (ENOENT). Name another directory',
  ],
  [
    `genesis create ${SVS} --ordering cometbft --out DIR/new.json`,
    '2 quorumscan: the network needs a rule that cannot be changed later: add `--set devnet=true` for development, where every user may make coin for nothing, or `--set devnet=false`, where all coin is rewards of super-validators',
  ],
  [
    `${CREATE} names.entryFee=2`,
    '2 quorumscan: unknown rule "names.entryFee": did you mean names.entryFeeUsd?',
  ],
  [
    `${CREATE} coin.tickMicros=10`,
    '2 quorumscan: coin.tickMicros=10: the value must be a duration such as 90d, 12h, 20s or 300ms',
  ],
  [
    `${CREATE} names.renewalDurationMicros=91d`,
    '1 quorumscan: these members and rules do not form a valid network: the genesis document is not valid at names.renewalDurationMicros: the renewal window is longer than the lifetime of a name (names.entryLifetimeMicros), so that a name could be renewed several times at once. Set another value than names.renewalDurationMicros=91d',
  ],
  [
    `${CREATE} names.entryFeeUsd=0 names.openRequestsMax=3`,
    '1 quorumscan: these members and rules do not form a valid network: the genesis document is not valid at names: the arguments break a rule of AnsRules. Set another value than names.entryFeeUsd=0.0000000000',
  ],
  [
    `genesis create ${SVS} --set devnet=true ordering.timeouts.voteMicros=1s --out DIR/new.json`,
    '2 quorumscan: ordering.timeouts.voteMicros=1s: with `--ordering redis` no engines order. Leave it out, or use `--ordering cometbft`',
  ],
  [
    'genesis create DIR/members/orderer.member.json --set devnet=true --out DIR/new.json',
    '1 quorumscan: no file is that of a super-validator, and a network needs one or more: name their member files',
  ],
  [
    'genesis create DIR/members --set devnet=true --out DIR/new.json',
    '1 quorumscan: DIR/members is a directory, and not a file',
  ],
  [
    'genesis create DIR/file --set devnet=true --out DIR/new.json',
    "1 quorumscan: DIR/file: it is not a member file: role: Invalid discriminator value. Expected 'super-validator' | 'synchronizer' | 'validator'. Ask its operator for the file that `keys new` wrote",
  ],
  [
    `genesis create ${SVS} --set devnet=true --out DIR/new.json`,
    '1 quorumscan: with `--ordering redis` one synchronizer orders, and these are the files of 0: name the member file of one, or use `--ordering cometbft`',
  ],
  [
    `genesis create ${SVS} DIR/members/sv-1.member.json --set devnet=true --out DIR/new.json`,
    '1 quorumscan: two member files are of sv-1: name each member once',
  ],
  [
    `genesis create ${SVS} --ordering cometbft --set devnet=true --out DIR/nowhere/new.json`,
    '2 quorumscan: the genesis was not written: the directory DIR/nowhere does not exist',
  ],
  [
    'mirror http://127.0.0.1:9 --port 0 --network devnet',
    '2 quorumscan: a mirror serves names with both of `--network` and `--genesis`',
  ],
  ['genesis verify DIR/nowhere', '2 quorumscan: DIR/nowhere does not exist'],
  [
    'genesis verify DIR/file',
    '2 quorumscan: DIR/file is not a genesis document: the genesis document is not valid at version: this software reads form 3. Name the file that `genesis create` wrote, or fetch it from another operator',
  ],
  [
    'run sv --config DIR/nowhere',
    '2 quorumscan: the configuration cannot be read: DIR/nowhere does not exist',
  ],
  [
    'run synchronizer --config DIR/orderer.env',
    '2 quorumscan: the configuration in DIR/orderer.env is wrong: QS_MEMBERS: the file of sv-1 has no url QS_MEMBERS: the file of sv-2 has no url QS_PORT is not set QS_PROT is not a variable that these processes read: did you mean QS_PORT? Nothing was done. Correct it, and try again; docs/configuration.md describes every variable',
  ],
  [
    'backup sv --config DIR/nowhere --out DIR/out',
    '2 quorumscan: the configuration cannot be read: DIR/nowhere does not exist',
  ],
  [
    'backup sv --log --config DIR/nowhere',
    '2 quorumscan: --log needs `--out`: the file is for another operator',
  ],
  [
    'backup sv --keep 3 --config DIR/nowhere --out DIR/out',
    '2 quorumscan: --keep is for the directory QS_BACKUPS: leave `--out` out',
  ],
  [
    'restore DIR/file --to DIR/to --identity DIR/file',
    '2 quorumscan: DIR/file: it has no line AGE-SECRET-KEY-…, as `age-keygen` writes it',
  ],
  [
    'member file --name sv-1 --out DIR/sv-1',
    '2 quorumscan: nothing was changed: name a new address, `--url` or `--engine-address`',
  ],
  [
    'member file --name sv-1 --out DIR/sv-1 --url a.example',
    '2 quorumscan: the member file stays as it is: --url "a.example" must be an https address in its normal form, without a slash at the end, such as https://sv-1.example:4611 (http is for this machine alone)',
  ],
  [
    'member file --name v --out DIR/v --url https://a.example',
    '1 quorumscan: DIR/v/v.member.json does not exist',
  ],
  [
    'cometbft vote',
    '2 quorumscan: name a node of the local cluster, or an operator with `--config`',
  ],
  ['restore DIR/nowhere --to DIR/to', '1 quorumscan: DIR/nowhere does not exist'],
  ['restore DIR/members --to DIR/to', '1 quorumscan: DIR/members is a directory, and not a file'],
  [
    'restore DIR/file --to DIR/to',
    '1 quorumscan: DIR/file is not a backup of the format quorumscan/backup/1: name a file that `backup` wrote',
  ],
  [
    'restore DIR/file --to DIR/members',
    '2 quorumscan: DIR/members is not empty: nothing was changed. `--to` takes a directory that is empty or does not exist',
  ],
  [
    'restore DIR/file --to DIR/to --set PORT=1',
    '2 quorumscan: "PORT=1" is not a variable with its value: write NAME=VALUE, such as QS_PORT=4711',
  ],
  [
    'log repair --log DIR/file',
    '2 quorumscan: --log names what super-validators sent to the operator of a synchronizer: name its configuration with `--config` as well',
  ],
  [
    'log verify --data-dir DIR/nowhere',
    '2 quorumscan: no cluster was started in DIR/nowhere: DIR/nowhere/genesis.json does not exist. Name its directory with `--data-dir`, or the configuration of an operator with `--config`',
  ],
  [
    'log verify --config DIR/nowhere',
    '2 quorumscan: the configuration cannot be read: DIR/nowhere does not exist',
  ],
  ['config set entry-fees=2', '2 quorumscan: unknown rule "entry-fees": did you mean entry-fee?'],
  [
    'config set entry-fee',
    '2 quorumscan: "entry-fee" has no value: write RULE=VALUE, such as entry-fee=2.5',
  ],
  [
    'config set entry-fee=2 --key DIR/nowhere',
    '2 quorumscan: --key confirms for one super-validator: name its own scan node with `--scan` and its own synchronizer with `--synchronizer` as well',
  ],
  [
    'config set entry-fee=2 --key DIR/nowhere --scan https://a.example --synchronizer https://a.example --genesis DIR/redis.json',
    '2 quorumscan: nothing was confirmed: DIR/nowhere does not exist',
  ],
  [
    'config get --scan nope',
    '2 quorumscan: --scan does not begin with https:// or http://: "nope"; it is an address such as https://sv-1.example:4611',
  ],
  [
    'config pending --scan http://127.0.0.1:9',
    '1 quorumscan: http://127.0.0.1:9/v0/proposals does not answer (bad port). Check that the node runs, and that its address is right',
  ],
  [
    'check --genesis DIR/redis.json',
    '2 quorumscan: name the nodes of the network with `--members DIR` or with `--scan URL`',
  ],
  [
    'check --members DIR/members',
    '2 quorumscan: --members and --scan name the nodes of a network: name its genesis with `--genesis` as well',
  ],
  [
    'check --genesis DIR/redis.json --members DIR/nowhere',
    '1 quorumscan: DIR/nowhere does not exist',
  ],
  [
    'resolve a.unverified.ns --quorum 5 --genesis DIR/redis.json --scan http://127.0.0.1:9',
    '2 quorumscan: a threshold is weak, strong, all or a number from 1 to 2',
  ],
  [
    'resolve a::b --genesis DIR/redis.json --scan http://127.0.0.1:9',
    '2 quorumscan: a lookup is a name or a party, and there are at most 256',
  ],
  [
    'resolve a.unverified.ns --votes --genesis DIR/redis.json --scan http://127.0.0.1:9',
    '2 quorumscan: --votes asks a validator: name it with `--validator`',
  ],
  [
    'resolve a.unverified.ns --validator http://127.0.0.1:9 --genesis DIR/redis.json --scan http://127.0.0.1:9',
    '2 quorumscan: --validator needs --genesis and --votes',
  ],
  [
    'resolve a.unverified.ns --votes --validator http://127.0.0.1:9 --genesis DIR/redis.json --scan http://127.0.0.1:9',
    '4 quorumscan: the validator does not answer (bad port)',
  ],
  [
    'check --genesis DIR/redis.json --scan x',
    '2 quorumscan: --scan does not begin with https:// or http://: "x"; it is an address such as https://sv-1.example:4611',
  ],
  // One for each kind of option: closed set, range, address, time, empty, unknown.
  [
    'mirror http://127.0.0.1:9 --port 0 --network Mainnet',
    "2 error: option '--network <name>' argument 'Mainnet' is invalid. Allowed choices are mainnet, testnet, devnet, localnet.",
  ],
  [
    'resolve a.unverified.ns --quorum Strong --genesis DIR/redis.json --scan http://127.0.0.1:9',
    '2 quorumscan: a threshold is weak, strong, all or a number from 1 to 2',
  ],
  [
    'mirror http://127.0.0.1:9 --port 65536',
    "2 error: option '--port <port>' argument '65536' is invalid. It is an integer from 0 to 65535.",
  ],
  [
    'verify DIR/file --prefix a --page-size 1e1',
    "2 error: option '--page-size <n>' argument '1e1' is invalid. It is an integer from 1 to 1000.",
  ],
  [
    'resolve a.unverified.ns --votes --validator nope --genesis DIR/redis.json --scan http://127.0.0.1:9',
    '2 quorumscan: --validator does not begin with https:// or http://: "nope"; it is an address such as https://sv-1.example:4611',
  ],
  [
    'verify DIR/file --genesis DIR/redis.json --name ',
    '2 quorumscan: --name is empty: give it a value, or leave it out',
  ],
  ['resolve ', '2 quorumscan: an argument is empty: give it a value, or leave it out'],
  [
    'resolve a.unverified.ns --qourum strong',
    "2 error: unknown option '--qourum' (Did you mean --quorum?)",
  ],
])('%s', async (line, expected) => {
  expect(await type(line)).toBe(expected)
})
