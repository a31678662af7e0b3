/** `run`: the processes of one operator, in the foreground. */
import { ROLE_OF, type Runnable } from '@quorumscan/operator'
import { Argument } from 'commander'
import { printLossily, untilInterrupted } from './options.ts'
import type { CommandContext } from './rig.ts'

export function addRunCommand({ plain, redisServer, mains, clock }: CommandContext): void {
  plain('run', "run this operator's processes in the foreground")
    .addArgument(new Argument('<role>', 'the role of the operator').choices(Object.keys(ROLE_OF)))
    .requiredOption('--config <file>', 'its variables, one a line: NAME=value')
    .addHelpText(
      'after',
      `
It starts Redis and each process, restarts processes that exit, and writes their
output to its own, for systemd and containers. If the configuration is wrong, it
exits at once and prints all problems. docs/configuration.md has the variables.`,
    )
    .action(async (role: Runnable, options: { config: string; json?: boolean }) => {
      const interrupted = untilInterrupted()
      const report = (sentence: string) =>
        printLossily(options.json ? JSON.stringify({ event: sentence }) : sentence)
      const { judgeProcesses, readOperatorConfig, runOperator } = await import(
        '@quorumscan/operator/run'
      )
      await using running = await runOperator({
        config: readOperatorConfig(role, options.config, judgeProcesses),
        redisServer,
        mains,
        env: process.env,
        clock,
        report,
      })
      await Promise.race([interrupted, running.failed])
      report('stopping')
    })
}
