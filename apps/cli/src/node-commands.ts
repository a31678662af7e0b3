/** `run`, `backup` and `restore`: the processes of one operator, in the foreground, and their data. */
import { dirname, resolve } from 'node:path'
import { writeLossily } from '@quorumscan/base'
import { ROLE_OF, type Runnable } from '@quorumscan/operator'
import type { Restored } from '@quorumscan/operator/backup'
import type { OperatorConfig, RunLog } from '@quorumscan/operator/run'
import { UsageError } from '@quorumscan/runtime'
import { Argument } from 'commander'
import { exitCodeOf } from './exit-codes.ts'
import {
  integer,
  printResult,
  setHintOption,
  untilInterrupted,
  withProgress,
  wrap,
} from './options.ts'
import type { CommandContext } from './rig.ts'
import { exitOfChecks, formatChecks } from './status.ts'

type RunFlags = { config: string; check?: boolean; json?: boolean }
/** Ten years of daily backups. */
const KEEP_MAX = 3650

type BackupFlags = {
  config: string
  out?: string
  encryptTo?: string
  keep?: number
  log?: boolean
  skip?: string[]
  json?: boolean
}
type RestoreFlags = {
  to: string
  identity?: string
  set?: string[]
  log?: string[]
  json?: boolean
}

export function addRunCommand(context: CommandContext): void {
  const { plain, exitWith, isTerminal } = context
  plain('run', "run this operator's processes in the foreground")
    .addArgument(roleArgument())
    .requiredOption('--config <file>', 'its variables, one per line: NAME=value')
    .option('--check', 'only check what it needs, and start nothing')
    .addHelpText(
      'after',
      `
It starts Redis and each process, restarts processes that exit, and writes what
they report as lines of JSON, for systemd and containers. If the configuration
is wrong, it exits at once and prints all problems, in a terminal as text.
docs/configuration.md has the variables.
It first makes the checks of --check, which may be made while it runs, too.
As a service it reads certificates, tokens and member files at SIGHUP. In a
terminal SIGHUP ends it.
Exit status: 1 a check failed, 2 the configuration is wrong.`,
    )
    .action(async (role: Runnable, options: RunFlags) => {
      if (options.check) return await checkOnly(role, options, context)
      const { createRunLog } = await import('@quorumscan/operator/run')
      let log = createRunLog({ name: role, level: 'info', write: writeLossily })
      try {
        await runInForeground(role, options, context, (own) => {
          log = own
        })
      } catch (error) {
        if (isTerminal) throw error
        // What a service prints has one format, and its last line has the reason.
        log.reportEnd(error)
        exitWith(exitCodeOf(error))
      }
    })
}

/** Runs the operator's processes until a signal. @param onLog - Called once the name of the operator is known. */
async function runInForeground(
  role: Runnable,
  options: RunFlags,
  { redisServer, entryFiles, clock }: CommandContext,
  onLog: (log: RunLog) => void,
): Promise<void> {
  let reload = () => {} // While it starts, it reads all files anyway.
  const interrupted = untilInterrupted(() => reload())
  const operator = await import('@quorumscan/operator/run')
  const { readOperatorConfig, validateProcesses } = operator
  const config = readOperatorConfig(role, options.config, validateProcesses)
  const log = operator.createRunLog({
    name: config.name,
    level: config.variables['QS_LOG_LEVEL'] || 'info',
    write: writeLossily,
  })
  onLog(log)
  const given = { config, redisServer, entryFiles, env: process.env, clock, log }
  await using running = await operator.runOperator(given)
  reload = running.reload
  await Promise.race([interrupted, running.failed])
  log.report('stopping')
}

async function checkOnly(
  role: Runnable,
  options: RunFlags,
  { redisServer, clock, exitWith }: CommandContext,
): Promise<void> {
  const operator = await import('@quorumscan/operator/run')
  const config = operator.readOperatorConfig(role, options.config, operator.validateProcesses)
  const isRunning = (await operator.findOwner(config.directory, clock)) !== null
  const checked = operator.checkedOperator({ config, redisServer, env: process.env, clock })
  const checks = await withProgress('asking other machines', clock, () =>
    operator.checkStart(checked, isRunning),
  )
  exitWith(exitOfChecks(checks))
  printResult(options, { isRunning, checks }, formatChecks(checks).join('\n'))
}

export function addBackupCommands({ plain, redisServer, clock }: CommandContext): void {
  const { env } = process
  plain('backup', 'write a backup of one operator, whether its processes run or not')
    .addArgument(roleArgument())
    .requiredOption('--config <file>', 'its variables, as for `run`')
    .option('--out <file>', 'the file to write, with mode 0600 (default: a new one in QS_BACKUPS)')
    .option('--encrypt-to <recipient>', 'encrypt it by age (default: to QS_BACKUP_RECIPIENT)')
    .option('--keep <n>', 'delete all in QS_BACKUPS but the newest n', integer(1, KEEP_MAX))
    .option('--log', 'for a super-validator: only the newest 64 MiB of the log, and no keys')
    .option('--skip <variable...>', 'leave out the file of a variable if it cannot be backed up')
    .addHelpText(
      'after',
      `
It holds the keys of the operator and the files that its configuration names; of
a validator also users, rights, renewals and pending submissions; of the
synchronizer also the log. With --log it holds the newest 64 MiB of the log and
no keys, for the operator of the synchronizer. It leaves out data that follows
from the log, and the vote state of an engine: an old copy would let the engine
double-sign.`,
    )
    .action(async (role: Runnable, options: BackupFlags) => {
      assertCombination(role, options)
      const { readOperatorConfig } = await import('@quorumscan/operator/run')
      const backup = await import('@quorumscan/operator/backup')
      const config = readOperatorConfig(role, options.config, () => [])
      const { log: isLogOnly = false, keep } = options
      // Another operator reads the file of `--log`, who has no identity of this one.
      const recipient = options.encryptTo ?? (isLogOnly ? null : config.backupRecipient)
      const file =
        options.out === undefined
          ? backup.newBackupFile(directoryOf(config, options), {
              name: config.name,
              nowMicros: clock.nowMicros(),
              isEncrypted: recipient !== null,
            })
          : resolve(options.out)
      if (role === 'synchronizer') setHintOption('--config', options.config)
      const { skip = [] } = options
      const skipped = await withProgress('reading', clock, () =>
        backup.backUp({ config, file, isLogOnly, recipient, skip, redisServer, env, clock }),
      )
      const deleted =
        keep === undefined ? [] : backup.deleteOldBackups(dirname(file), config.name, keep)
      const { name } = config
      const secret =
        recipient === null
          ? `It holds private keys: every reader of it can act as ${name}. Keep it encrypted, and on another machine.`
          : `It is encrypted to ${recipient}. Copy it to another machine, and keep the identity of this recipient on neither.`
      const text = isLogOnly
        ? `${file} contains the newest log entries that ${name} stored, without keys. Send it to the operator of the synchronizer.`
        : `${name} is backed up in ${file}. ${secret}`
      const lines = [text, ...skipped.map(describeSkipped)].flatMap(wrap)
      printResult(options, { file, name, recipient, deleted, skipped }, lines.join('\n'))
    })
  plain('restore', 'restore a backup of one operator into a new data directory')
    .argument('<file>', 'the file that `backup` wrote')
    .requiredOption('--to <dir>', 'the data directory to make')
    .option('--identity <file>', 'of age (age-keygen): decrypts a backup that is encrypted')
    .option('--set <name=value...>', 'variables with other values here, e.g. QS_PORT=4711')
    .option('--log <file...>', 'for a synchronizer: backups of super-validators, made with --log')
    .addHelpText(
      'after',
      `
The operator of the backup must no longer run anywhere else: two machines with
the same keys equivocate.`,
    )
    .action(async (file: string, options: RestoreFlags) => {
      const { to: target, set = [], log: logFiles = [] } = options
      const overrides = parseOverrides(set)
      const { readIdentities, restore } = await import('@quorumscan/operator/backup')
      const identities = options.identity === undefined ? [] : readIdentities(options.identity)
      const restored = await withProgress('restoring', clock, () =>
        restore({ file, target, identities, overrides, logFiles, redisServer, env, clock }),
      )
      const { genesis: _genesis, ...json } = restored
      printResult(options, json, describe(restored).flatMap(wrap).join('\n'))
    })
}

function assertCombination(role: Runnable, { log = false, out, keep, skip }: BackupFlags): void {
  if (log && skip !== undefined) throw new UsageError('--log writes no files: leave `--skip` out')
  if (log && role !== 'sv')
    throw new UsageError(
      '--log is valid only for `backup sv`: a backup of the synchronizer contains the whole log',
    )
  if (log && out === undefined)
    throw new UsageError('--log needs `--out`: the file is for another operator')
  if (keep !== undefined && out !== undefined)
    throw new UsageError('--keep is for the directory QS_BACKUPS: leave `--out` out')
}

function directoryOf({ backupDirectory }: OperatorConfig, { config }: BackupFlags): string {
  if (backupDirectory !== null) return backupDirectory
  throw new UsageError(`no file was named: use \`--out\`, or set QS_BACKUPS in ${config}`)
}

function roleArgument(): Argument {
  return new Argument('<role>', 'the role of the operator').choices(Object.keys(ROLE_OF))
}

function parseOverrides(settings: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    settings.map((setting) => {
      const [, name = '', value = ''] = /^(QS_[A-Z0-9_]+)=(.*)$/s.exec(setting) ?? []
      if (name === '')
        throw new UsageError(
          `"${setting}" is not a variable with its value: write NAME=VALUE, such as QS_PORT=4711`,
        )
      return [name, value]
    }),
  )
}

function describeSkipped({ variable, reason }: Restored['skipped'][number]): string {
  return `Not in the backup: the file of ${variable} (${reason}).`
}

function describe(restored: Restored): string[] {
  const { role, name, takenAt, configFile, genesis, logEnd, skipped } = restored
  const together =
    'It fetches the log from the others, and votes when it can no longer double-sign. Make sure that no other machine has its voting key.'
  const next = {
    validator:
      'Changes after the backup are missing: registrations, rights granted. Rights revoked and renewals disabled since then are active again.',
    synchronizer: `The log ends at offset ${logEnd}. If super-validators have later entries, it orders nothing and reports LOG_REGRESSED: then restore it again with --log and the files that super-validators wrote with \`quorumscan backup sv --log\`.`,
    sv:
      genesis.ordering.driver === 'cometbft'
        ? together
        : 'It fetches everything that it lacks from the log.',
  }
  const run = `  \`quorumscan run ${role} --config ${configFile}\``
  const stale =
    'Its member files of the others are those of that day, and QS_BACKUPS is not set: see docs/operations.md, "Restoring".'
  const lacking = skipped.map(
    (one) => `${describeSkipped(one)} Put it in its place before \`run\`.`,
  )
  return [
    `${name} was restored to its state of ${takenAt}. Run it:`,
    run,
    ...lacking,
    next[role],
    stale,
  ]
}
