/** `replica`: the state that one operator's process derived from the log. */
import type { OperatorConfig } from '@quorumscan/operator/run'
import { printResult, setHintOption, withProgress, wrap } from './options.ts'
import type { CommandContext } from './rig.ts'

type Flags = { config: string; json?: boolean }

export function addReplicaCommands({
  plain,
  group,
  redisServer,
  clock,
}: Pick<CommandContext, 'plain' | 'group' | 'redisServer' | 'clock'>): void {
  const replica = group('replica', 'the state that a process derives from the log')
  plain('wipe', 'delete the replica of a stopped process; `run` rebuilds it', replica)
    .requiredOption('--config <file>', 'its variables, as for `run`')
    .addHelpText(
      'after',
      `
For a process that reports STATE_DIVERGED. It keeps all else: keys, users, the
log of a member. Keep a copy of the data directory if the cause is unknown.`,
    )
    .action(async (options: Flags) => {
      setHintOption('--config', options.config)
      const operator = await import('@quorumscan/operator/run')
      const config = operator.readOperatorConfig(
        operator.findRole(options.config),
        options.config,
        () => [],
      )
      const wiped = await withProgress('deleting the replica', clock, () =>
        operator.wipeReplica({ config, redisServer, env: process.env, clock }),
      )
      printResult(options, wiped, describe(config, wiped, options.config).flatMap(wrap).join('\n'))
    })
}

function describe(
  { name, runs }: OperatorConfig,
  { keyCount, offset, rebuildSecondsMax }: Awaited<ReturnType<WipeReplica>>,
  configFile: string,
): readonly string[] {
  if (keyCount === 0) return [`${name} has no replica: nothing was deleted.`]
  return [
    `The replica of ${name}, which had applied the log up to offset ${offset}, was deleted.`,
    `Start it: \`quorumscan run ${runs} --config ${configFile}\`. It answers lookups again after it has rebuilt the replica, ` +
      `from a snapshot of the others within seconds, or from the log in up to ${rebuildSecondsMax} s.`,
  ]
}

type WipeReplica = typeof import('@quorumscan/operator/run')['wipeReplica']
