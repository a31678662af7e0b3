/** `rewards`: the coin that a super-validator earned, and how its operator spends it. */
import { printable } from '@quorumscan/base'
import { type Amount, formatAmount, readAmount } from '@quorumscan/model'
import { UsageError } from '@quorumscan/runtime'
import { printResult, setHintOption, withProgress, wrap } from './options.ts'
import type { CommandContext } from './rig.ts'

type Flags = { config: string; json?: boolean }

export function addRewardsCommands({ plain, group, redisServer, clock }: CommandContext): void {
  const rewards = group('rewards', 'the coin that a super-validator earned in its rounds')
  const configHelp = 'the file of `run sv`'

  const open = async ({ config }: Flags) => {
    setHintOption('--config', config)
    const { readOperatorConfig, validateProcesses } = await import('@quorumscan/operator/run')
    const { openRewards } = await import('@quorumscan/operator/rewards')
    const operator = readOperatorConfig('sv', config, validateProcesses)
    return openRewards({ config: operator, redisServer, env: process.env, clock })
  }

  plain('show', 'show the party of the operator and its coin (the default)', rewards, {
    isDefault: true,
  })
    .requiredOption('--config <file>', configHelp)
    .action(async (options: Flags) => {
      await using own = await open(options)
      const balance = await own.balance()
      const { party, available, offered, asOf } = balance
      const lines = [
        `party      ${party}`,
        `available  ${available} coin`,
        `offered    ${offered} coin, which others may accept`,
        `as of      ${asOf}`,
      ]
      printResult(options, balance, lines.join('\n'))
    })
  plain('send', 'offer coin to a party, which accepts it in its wallet', rewards)
    .argument('<party>', 'the receiver, such as alice::1220…')
    .argument('<amount>', 'the coin, such as 250 or 2.5')
    .requiredOption('--config <file>', configHelp)
    .option('--id <text>', 'with the same text it is sent once (default: party and amount)')
    .addHelpText(
      'after',
      `
The node of the operator must run. The operator key signs the transfer. If its
answer was lost, run the command again: the coin is sent once. To send the same
amount to the same party again within a day, name another --id. Coin that is not
accepted within 7 days returns.`,
    )
    .action(async (receiver: string, text: string, options: Flags & { id?: string }) => {
      const amount = coinOf(text)
      const id = options.id ?? `${receiver} ${formatAmount(amount)}`
      await using own = await open(options)
      const { acceptBefore } = await withProgress('sending', clock, () =>
        own.send({ receiver, amount, id }),
      )
      const sent = `${formatAmount(amount)} coin is offered to ${receiver}, who may accept it in a wallet until ${acceptBefore}.`
      const json = { receiver, amount: formatAmount(amount), id, acceptBefore }
      printResult(options, json, wrap(sent).join('\n'))
    })
}

/** @throws {UsageError} If it is no amount above 0. */
function coinOf(text: string): Amount {
  const amount = readAmount(text)
  if (amount !== undefined && amount > 0n) return amount
  throw new UsageError(
    `"${printable(text)}" is no amount of coin: it is above 0, with at most 10 decimals, such as 250 or 2.5`,
  )
}
