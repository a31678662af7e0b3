/** `keys` and `genesis`: how operators who do not share a machine make a network together. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Clock } from '@quorumscan/base'
import { maxFaulty, quorumOf } from '@quorumscan/consensus'
import { type Command, Option } from 'commander'
import { KEYS_OF, ROLES, type Role } from '../ceremony/member.ts'
import { ClusterError, messageOf, UsageError } from '../cluster-error.ts'
import { ORDERING_DRIVERS, type OrderingDriver } from '../cluster-shape.ts'
import { dataDirectory, isErrno } from '../data-directory.ts'
import { answer, wrap } from './options.ts'
import { printable } from './text.ts'
import { readGenesis } from './verify.ts'

/** As much as replicas grant each other (Rule 6): a network that begins later than this would stand still. */
const AHEAD_MICROS_MAX = 10_000_000

export function addCeremonyCommands(program: Command, clock: Clock): void {
  const group = (name: string, description: string) =>
    program.command(name).description(description).helpCommand(false)

  group('keys', 'the keys of one operator')
    .command('new')
    .description('make the keys of one member, and the file that it shows to the others')
    .requiredOption('--name <name>', 'what the network calls it, e.g. sv-1')
    .requiredOption('--out <dir>', 'where keys and file are kept: its data directory')
    .addOption(
      new Option('--role <role>', 'what it runs').choices(ROLES).default('super-validator'),
    )
    .option('--url <url>', 'where others reach its scan node')
    .option('--engine-address <host:port>', 'where other engines reach its own')
    .option('--json', 'print where everything is as JSON')
    .action(async (options: KeysFlags) => {
      const { makeMember, memberKeyFile } = await loadCeremony()
      const { name, role } = options
      const directory = dataDirectory(options.out)
      const memberFile = directory.memberFile(name)
      if (existsSync(memberFile))
        throw new UsageError(`${memberFile} is there already: ${name} has its keys`)
      makeMember(directory, role, {
        name,
        createdAtMicros: clock.nowMicros(),
        url: options.url ?? null,
        engineAddress: options.engineAddress ?? null,
      })
      const keyFiles = KEYS_OF[role].map((kind) => memberKeyFile(directory, name, kind))
      answer(
        options,
        { memberFile, keyFiles },
        `to give to the others   ${memberFile}\nto keep secret\n  ${keyFiles.join('\n  ')}`,
      )
    })

  const genesis = group('genesis', 'what fixes a network for good')
  genesis
    .command('create')
    .description('make the genesis of a network out of the files of its members')
    .argument('<member-file...>', 'as `keys new` wrote them, in any order')
    .requiredOption('--out <file>', 'where it is written')
    .addOption(
      new Option('--ordering <driver>', 'who orders: redis, one synchronizer, or cometbft, all')
        .choices(ORDERING_DRIVERS)
        .default('redis'),
    )
    .option('--set <rule=value...>', 'other rules, e.g. names.entryFeeUsd=2.5 coin.tickMicros=10m')
    .option('--json', 'print its hash as JSON')
    .addHelpText('after', HASH_HELP)
    .action(async (files: string[], options: CreateFlags) => {
      const { createGenesis, hashGenesis, parseSettings, readMember } = await loadCeremony()
      const overrides = parseSettings(options.ordering, options.set ?? [])
      const document = createGenesis(files.map(readMember), { driver: options.ordering, overrides })
      if (document.recordTime > clock.nowMicros() + AHEAD_MICROS_MAX)
        throw new ClusterError('a member file is of the future: a clock is wrong, there or here')
      const text = `${JSON.stringify(document, null, 2)}\n`
      writePublic(options.out, text)
      const hash = hashGenesis(document)
      answer(options, { hash }, hash)
    })
  genesis
    .command('verify')
    .description('say what a genesis fixes, and whether it is what these members make')
    .argument('<file>', 'the genesis document')
    .argument('[member-file...]', 'the files of all its members')
    .option('--json', 'print hash, n, f and q as JSON')
    .addHelpText('after', HASH_HELP)
    .action(async (file: string, memberFiles: string[], options: { json?: boolean }) => {
      const { createGenesis, describeGenesis, hashGenesis, readMember, rulesOf } =
        await loadCeremony()
      const document = readGenesis(file)
      const hash = hashGenesis(document)
      if (memberFiles.length > 0) {
        const { driver } = document.ordering
        const wanted = { driver, overrides: rulesOf(document) }
        const made = hashGenesis(createGenesis(memberFiles.map(readMember), wanted))
        if (made !== hash)
          throw new ClusterError(
            `${file} is not what these members make by its rules: that would be ${made}`,
          )
      }
      const n = document.nodes.length
      const json = { hash, n, f: maxFaulty(n), q: quorumOf(n), driver: document.ordering.driver }
      const made = memberFiles.length > 0 ? ['These members make it, by these rules.'] : []
      const lines = [...describeGenesis(document), ...made]
      answer(options, json, lines.map(printable).flatMap(wrap).join('\n'))
    })
}

/** Only a ceremony needs the ledger's rules and the engine's names. */
async function loadCeremony() {
  const [keys, rules, genesis, description] = await Promise.all([
    import('../ceremony/member-keys.ts'),
    import('../ceremony/rules.ts'),
    import('../genesis.ts'),
    import('../ceremony/describe-genesis.ts'),
  ])
  return { ...keys, ...rules, ...genesis, ...description }
}

/** @throws {UsageError} If there is another one. */
function writePublic(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw new UsageError(messageOf(error), { cause: error })
    if (readFileSync(file, 'utf8') !== text)
      throw new UsageError(`${file} holds another one: nothing was written`)
  }
}

const HASH_HELP = `
Every operator compares the hash with the others: whoever has the same hash is
in the same network, by the same rules, with the same members.`

type KeysFlags = {
  name: string
  out: string
  role: Role
  url?: string
  engineAddress?: string
  json?: boolean
}
type CreateFlags = { out: string; ordering: OrderingDriver; set?: string[]; json?: boolean }
