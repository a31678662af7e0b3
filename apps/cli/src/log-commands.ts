/** `log`: verifies and repairs the log of a cluster, or of one operator. */
import { dataDirectory } from '@quorumscan/operator'
import { UsageError } from '@quorumscan/runtime'
import { EXIT } from './exit-codes.ts'
import { printResult, setHintOption, withProgress, wrap } from './options.ts'
import type { CommandContext, Common, LogReport } from './rig.ts'

type Flags = Common & { config?: string }

export function addLogCommands(context: CommandContext): void {
  const { command, clock, cluster, redisServer, exitWith } = context
  const log = context.group('log', 'the log, from which all replicas are built')
  const configHelp = 'of an operator: the configuration of `run synchronizer`'
  const printReport = (options: Flags, { isWhole, text, json }: LogReport) => {
    printResult(options, json, text.split('\n').flatMap(wrap).join('\n'))
    exitWith(isWhole ? EXIT.done : EXIT.failed)
  }
  /** The operator of `--config`; null: the local cluster. */
  const operatorOf = async ({ config }: Flags) => {
    if (config === undefined) return null
    setHintOption('--config', config)
    const { readLogConfig } = await import('@quorumscan/operator/log')
    return { config: readLogConfig(config), redisServer, env: process.env, clock }
  }

  command('verify', 'check every entry of the log; exit status 1 if it is damaged', log)
    .option('--config <file>', configHelp)
    .addHelpText('after', '\nIts Redis must run. With --config the command starts it if needed.')
    .action(async (options: Flags) => {
      const { verifyLogOf, verifyOperatorLog } = await import('./log-verify.ts')
      const operator = await operatorOf(options)
      const report = await withProgress('reading the log', clock, () =>
        operator === null
          ? verifyLogOf(dataDirectory(options.dataDir))
          : verifyOperatorLog(operator),
      )
      printReport(options, report)
    })

  command('repair', 'repair a damaged log; exit status 1 if that is impossible', log)
    .option('--config <file>', configHelp)
    .option('--log <file...>', 'with --config: files of super-validators, by `backup sv --log`')
    .option('--cut', 'cut off an end that no node has applied and that cannot be restored')
    .addHelpText(
      'after',
      `
With --config, stop the synchronizer first, and ask n - f super-validators or
more (3 of 4) for the file that \`backup sv --log\` writes.`,
    )
    .action(async (options: Flags & { log?: string[]; cut?: boolean }) => {
      const { log: logFiles = [], cut: isCutAllowed = false } = options
      const { repairLogOfOperator } = await import('./log-repair.ts')
      const operator = await operatorOf(options)
      if (operator === null && logFiles.length > 0)
        throw new UsageError(
          '--log names what super-validators sent to the operator of a synchronizer: name its configuration with `--config` as well',
        )
      const report = await withProgress('repairing the log', clock, () =>
        operator === null
          ? cluster.repairLog(dataDirectory(options.dataDir), { isCutAllowed, redisServer, clock })
          : repairLogOfOperator({ ...operator, logFiles, isCutAllowed }),
      )
      printReport(options, report)
    })
}
