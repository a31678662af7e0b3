/** `run`: the processes of one operator, in the foreground. */
import { ROLE_OF, type Runnable } from '@quorumscan/operator'
import { Argument } from 'commander'
import { printLossily, untilInterrupted } from './options.ts'
import type { CommandContext } from './rig.ts'

export function addRunCommand({ plain, redisServer, mains, clock }: CommandContext): void {
  plain('run', "run this operator's processes in the foreground")
    .addArgument(new Argument('<role>', 'what it is').choices(Object.keys(ROLE_OF)))
    .requiredOption('--config <file>', 'its variables, a line each: NAME=value')
    .addHelpText(
      'after',
      `
It starts Redis and each process, starts again what ends, and writes what they
say to its own output: for systemd and containers. A wrong configuration ends it
at once, with all that is wrong. The page on operations has the variables.`,
    )
    .action(async (role: Runnable, options: { config: string; json?: boolean }) => {
      const interrupted = untilInterrupted()
      const tell = (sentence: string) =>
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
        tell,
      })
      await Promise.race([interrupted, running.failed])
      tell('stopping')
    })
}
