/** `keys` and `genesis`: how operators on different machines make a network together. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { printable } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import {
  dataDirectory,
  KEYS_OF,
  type MemberFile,
  ORDERING_DRIVERS,
  type OrderingDriver,
  ROLES,
  type Role,
  readGenesis,
} from '@quorumscan/operator'
import { CommandError, isErrno, messageOfWrite, UsageError } from '@quorumscan/runtime'
import { memberSetOf } from '@quorumscan/verifier'
import { choice, printResult, wrap } from './options.ts'
import type { CommandContext } from './rig.ts'

/** The tolerance of replicas (Rule 6): a network that starts later than this would stall. */
const AHEAD_MICROS_MAX = 10_000_000

const MICROS_PER_SECOND = 1_000_000

const ORDERING_HELP = 'which members order: redis (one synchronizer) or cometbft (all)'

type Flags = { out: string; set?: string[]; json?: boolean }
type KeysFlags = Flags & { name: string; role: Role; url?: string; engineAddress?: string }

export function addCeremonyCommands({ plain, group, clock }: CommandContext): void {
  const keys = group('keys', 'the keys of one operator')
  plain('new', 'make the keys of one operator, and the member file for the others', keys)
    .requiredOption('--name <name>', 'the name in the network, e.g. sv-1')
    .requiredOption('--out <dir>', 'the data directory, for the keys and the member file')
    .addOption(choice('--role <role>', 'what it runs', ROLES, 'super-validator'))
    .option('--url <url>', 'the address of its scan node')
    .option('--engine-address <host:port>', 'the address of its engine, for other engines')
    .action(async (options: KeysFlags) => {
      const { makeMember, memberKeyFile } = await loadCeremony()
      const { name, role, url = null, engineAddress = null } = options
      const directory = dataDirectory(options.out)
      const memberFile = directory.memberFile(name)
      if (existsSync(memberFile))
        throw new UsageError(
          `${memberFile} exists: ${name} has its keys already, and nothing was changed. Give this file to the others, ` +
            'or name another directory with `--out`',
        )
      const createdAtMicros = clock.nowMicros()
      makeMember(directory, role, { name, createdAtMicros, url, engineAddress })
      const keyFiles = KEYS_OF[role].map((kind) => memberKeyFile(directory, name, kind))
      const text = `give to the other operators\n  ${memberFile}\nkeep secret\n  ${keyFiles.join('\n  ')}`
      printResult(options, { memberFile, keyFiles }, text)
    })

  const member = group('member', 'the public file of one operator, for the others')
  plain('file', 'issue the member file again after an address has changed', member)
    .requiredOption('--name <name>', 'the name in the network, e.g. sv-1')
    .requiredOption('--out <dir>', 'the data directory, with the keys and the member file')
    .option('--url <url>', 'the new address of its scan node')
    .option('--engine-address <host:port>', 'the new address of its engine')
    .addHelpText('after', REISSUE_HELP)
    .action(async (options: Omit<KeysFlags, 'role'>) => {
      const { name, out, json: _json, ...addresses } = options
      const { reissueMember } = await loadCeremony()
      if (Object.keys(addresses).length === 0)
        throw new UsageError(
          'nothing was changed: name a new address, `--url` or `--engine-address`',
        )
      const directory = dataDirectory(out)
      const { url, engineAddress, reissued } = reissueMember(directory, name, addresses)
      const memberFile = directory.memberFile(name)
      const text = `${memberFile} has the new addresses. Give it to the other operators, who put it in the place of the old one.`
      const result = { memberFile, url, engineAddress, sequence: reissued?.sequence }
      printResult(options, result, wrap(text).join('\n'))
    })

  const genesis = group('genesis', 'the document that fixes the members and rules of a network')
  plain('create', 'make the genesis of a network from its member files', genesis)
    .argument('<member-file...>', 'the files that `keys new` wrote, in any order')
    .requiredOption('--out <file>', 'the file to write')
    .addOption(choice('--ordering <driver>', ORDERING_HELP, ORDERING_DRIVERS, 'redis'))
    .option('--set <rule=value...>', 'other rules, e.g. names.entryFeeUsd=2.5 coin.tickMicros=10m')
    .addHelpText('after', HASH_HELP)
    .action(async (files: string[], options: Flags & { ordering: OrderingDriver }) => {
      const { createGenesis, describeCoin, hashGenesis, meaningOfCoin, parseSettings, readMember } =
        await loadCeremony()
      const overrides = parseSettings(options.ordering, options.set ?? [])
      if (overrides.devnet === undefined) throw new UsageError(DEVNET_NEEDED)
      const members = files.map(readMember)
      const document = createGenesis(members, { driver: options.ordering, overrides })
      const aheadMicros = document.recordTime - clock.nowMicros()
      if (aheadMicros > AHEAD_MICROS_MAX)
        throw new CommandError(describeFuture(members, aheadMicros))
      const text = `${JSON.stringify(document, null, 2)}\n`
      writePublic(options.out, text)
      const hash = hashGenesis(document)
      const names = document.nodes.map((node) => node.name)
      const { meaning, warnings } = describeCoin(document)
      const lines = [
        `${options.out} is the genesis of ${names.join(', ')}.`,
        ...describeLeftOut(members),
        ...meaning,
        ...warnings.map((warning) => `warning: ${warning}.`),
        `hash ${hash}`,
        'Compare the hash with the other operators by voice: only the same hash is the same network. ' +
          `\`genesis verify ${options.out} MEMBER-FILES\` describes what it fixes.`,
      ]
      const json = { hash, coin: meaningOfCoin(document), warnings }
      printResult(options, json, lines.flatMap(wrap).join('\n'))
    })
  plain('verify', 'describe a genesis, and check that the member files match it', genesis)
    .argument('<file>', 'the genesis document')
    .argument('[member-file...]', 'all its member files')
    .addHelpText('after', HASH_HELP)
    .action(async (file: string, memberFiles: string[], options: { json?: boolean }) => {
      const ceremony = await loadCeremony()
      const document = readGenesis(file)
      const hash = ceremony.hashGenesis(document)
      const members = memberFiles.map(ceremony.readMember)
      if (members.length > 0) {
        const { driver } = document.ordering
        const wanted = { driver, overrides: ceremony.rulesOf(document) }
        const made = ceremony.hashGenesis(ceremony.createGenesis(members, wanted))
        if (made !== hash)
          throw new CommandError(
            `${file} has the hash ${hash}, but the genesis made of these files has the hash ${made}. ` +
              'A member file is missing or differs from the one used for the genesis: ask its operator for it',
          )
      }
      const { n, f, quorum: q } = memberSetOf(document)
      const json = { hash, n, f, q, driver: document.ordering.driver }
      const lines = [
        ...ceremony.describeGenesis(document),
        ...(members.length > 0 ? ['The genesis matches these member files.'] : []),
        ...describeLeftOut(members),
      ]
      printResult(options, json, lines.map(printable).flatMap(wrap).join('\n'))
    })
}

const DEVNET_NEEDED =
  'the network needs a rule that cannot be changed later: add `--set devnet=true` for development, where every user may ' +
  'make coin for nothing, or `--set devnet=false`, where all coin is rewards of super-validators'

function describeFuture(members: readonly MemberFile[], aheadMicros: Micros): string {
  const latest = Math.max(...members.map(({ createdAtMicros }) => createdAtMicros))
  const names = members.filter((one) => one.createdAtMicros === latest).map(({ name }) => name)
  return (
    `the keys of ${names.join(', ')} were made ${Math.ceil(aheadMicros / MICROS_PER_SECOND)} s in the future: a clock is ` +
    `wrong. Correct the clock of this machine. If it is right, wait, or ask ${names.join(', ')} to run \`keys new\` again`
  )
}

/** The directory may also contain member files of validators, which a genesis does not name. */
function describeLeftOut(members: readonly MemberFile[]): readonly string[] {
  const names = members.filter(({ role }) => role === 'validator').map(({ name }) => name)
  return names.length === 0
    ? []
    : [`Left out: ${names.join(', ')}. A genesis does not name validators.`]
}

/** Loaded late: only these commands need the rules of the ledger. */
function loadCeremony() {
  return import('@quorumscan/operator/ceremony')
}

/** @throws {UsageError} If there is another one. */
function writePublic(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    if (!isErrno(error, 'EEXIST'))
      throw new UsageError(`the genesis was not written: ${messageOfWrite(error, file)}`, {
        cause: error,
      })
    if (readFileSync(file, 'utf8') !== text)
      throw new UsageError(
        `${file} exists and holds another genesis: nothing was written. Name another file with \`--out\``,
      )
  }
}

const REISSUE_HELP = `
An address that is not named stays. The new file has the same keys and a higher
sequence: of two files of one member, the newer one is valid. The genesis stays.`

const HASH_HELP = `
Every operator compares the hash with the others. The same hash means the same
network, with the same rules and the same members.`
