/** `support-bundle`: what an operator sends to those who help. */
import { resolve } from 'node:path'
import type { Bundle } from '@quorumscan/operator/support'
import { formatInstant } from '@quorumscan/verifier'
import { printResult, withProgress, wrap } from './options.ts'
import type { CommandContext } from './rig.ts'

type Flags = { config: string; out?: string; log?: string; json?: boolean }

const NAME_COLUMNS = 15

export function addSupportCommand(
  { plain, redisServer, clock }: Pick<CommandContext, 'plain' | 'redisServer' | 'clock'>,
  versions: string,
): void {
  plain('support-bundle', 'write a text file for those who help, without keys and tokens')
    .requiredOption('--config <file>', 'its variables, as for `run`')
    .option('--out <file>', 'the file to write (default: a new one in this directory)')
    .option('--log <file>', 'the output of `run` (default: the journal of its unit)')
    .addHelpText(
      'after',
      `
It works while the processes run and while none does, and with a configuration
that is wrong. Read the file before you send it.`,
    )
    .action(async (options: Flags) => {
      const { writeSupportBundle } = await import('@quorumscan/operator/support')
      const at = formatInstant(clock.nowMicros()).replace(/[-:]|\.\d+/g, '')
      const file = resolve(options.out ?? `quorumscan-support-${at}.txt`)
      const bundle = await withProgress('reading configuration, nodes and log', clock, () =>
        writeSupportBundle({
          configFile: options.config,
          file,
          logFile: options.log ?? null,
          versions,
          redisServer,
          env: process.env,
          clock,
        }),
      )
      printResult(options, bundle, describe(bundle).join('\n'))
    })
}

function describe({ file, bytes, sections, secretCount, hiddenCount }: Bundle): string[] {
  return [
    ...wrap(`${file} (${Math.ceil(bytes / 1024)} KiB) contains:`),
    ...sections.flatMap(({ name, about }) => {
      const [first = '', ...rest] = wrap(' '.repeat(NAME_COLUMNS + 2) + about)
      return [`  ${name.padEnd(NAME_COLUMNS)}${first.trimStart()}`, ...rest]
    }),
    ...wrap(
      `It contains no keys, tokens and passwords: ${secretCount} values of this machine were looked for, and something was hidden in ${hiddenCount} places. ` +
        'Names, addresses and parties are in it. Read it before you send it.',
    ),
  ]
}
