/** `status`: the processes of a cluster, or of one operator with what to do next. `run --check` prints its checks alike. */
import { printable } from '@quorumscan/base'
import { dataDirectory, ROLE_OF } from '@quorumscan/operator'
import type { Check } from '@quorumscan/operator/run'
import { formatInstant } from '@quorumscan/verifier'
import { EXIT } from './exit-codes.ts'
import { printResult, setHintOption, withProgress, wrap } from './options.ts'
import type { CommandContext, Common } from './rig.ts'

type Flags = Common & { config?: string; backups?: string; watch?: boolean }

const WATCH_INTERVAL_MS = 1000
const NAME_COLUMNS = 15
const STATE_LABEL = { ok: 'ok', warning: 'warning', failed: 'FAILED' }
const STATE_COLUMNS = 9

const HELP = `
With --config it shows what one operator runs: processes, log, votes, peers,
clock, disk, certificates, backups, and what to do.
Exit status: 0 no check failed, 1 one failed, 4 no process runs or answers.`

export function addStatusCommand(context: CommandContext): void {
  const { command, cluster, clock, exitWith } = context
  command('status', 'show processes, faults and tolerated failures, or one operator')
    .option('--config <file>', 'of an operator: the file of `run`')
    .option('--backups <dir>', 'with --config: its backups (default: of QS_BACKUPS)')
    .option('--watch', 'refresh until interrupted; with --json a line each time')
    .addHelpText('after', HELP)
    .action(async (options: Flags) => {
      const { config, dataDir, watch = false, json = false } = options
      const show = () =>
        config === undefined
          ? cluster.status(dataDirectory(dataDir))
          : operatorStatus({ ...options, config }, context)
      for (;;) {
        const { text, value, exitCode = EXIT.done } = await show()
        // Moves the cursor home and clears the screen: the table stays in its place.
        if (watch && !json && process.stdout.isTTY) process.stdout.write('\u001b[H\u001b[J')
        printResult(options, value, text)
        exitWith(exitCode)
        if (!watch) return
        await clock.delay(WATCH_INTERVAL_MS)
      }
    })
}

async function operatorStatus(
  { config: file, backups }: Flags & { config: string },
  { redisServer, clock }: CommandContext,
) {
  setHintOption('--config', file)
  const operator = await import('@quorumscan/operator/run')
  const role = operator.findRole(file)
  const config = operator.readOperatorConfig(role, file, operator.validateProcesses)
  const checked = operator.checkedOperator({ config, redisServer, env: process.env, clock })
  const { isRunning, checks } = await withProgress('asking processes and nodes', clock, () =>
    operator.checkRunning(checked, backups ?? config.backupDirectory),
  )
  const { name } = config
  const at = formatInstant(clock.nowMicros())
  return {
    text: [`${name}, ${ROLE_OF[role]}, at ${at}`, ...formatChecks(checks)].join('\n'),
    value: { name, role: ROLE_OF[role], at, isRunning, checks },
    exitCode: isRunning ? exitOfChecks(checks) : EXIT.silent,
  }
}

export function exitOfChecks(checks: readonly Check[]): number {
  if (checks.some(({ isMisconfigured }) => isMisconfigured)) return EXIT.usage
  return checks.some(({ state }) => state === 'failed') ? EXIT.failed : EXIT.done
}

/** A line or more for each check, then what to do. Pure. */
export function formatChecks(checks: readonly Check[]): string[] {
  const indent = STATE_COLUMNS + NAME_COLUMNS
  const lines = checks.flatMap(({ name, state, detail }) => {
    const head = STATE_LABEL[state].padEnd(STATE_COLUMNS) + name.padEnd(NAME_COLUMNS)
    return head + hanging(printable(detail), indent)
  })
  const advised = checks.filter(({ advice }) => advice !== null)
  if (checks.every(({ state }) => state === 'ok')) return [...lines, '', 'Nothing to do.']
  if (advised.length === 0) return lines
  const steps = advised.map(
    ({ name, advice }) =>
      `  ${name.padEnd(NAME_COLUMNS - 2)}${hanging(`${advice}.`, NAME_COLUMNS)}`,
  )
  return [...lines, '', 'What to do:', ...steps]
}

/** A text whose further lines are indented. Paths and commands that are longer than a line stay whole. */
function hanging(text: string, indent: number): string {
  return wrap(' '.repeat(indent) + text)
    .join('\n')
    .trimStart()
}
