/** `jobs`: waiting and dropped jobs, of a cluster or of one operator. */
import { describeQueue } from '@quorumscan/errors/node-words'
import type { JobFailure } from '@quorumscan/jobs'
import { dataDirectory } from '@quorumscan/operator'
import type { NodeJobs } from '@quorumscan/operator/jobs'
import { UsageError } from '@quorumscan/runtime'
import { formatInstant } from '@quorumscan/verifier'
import { printResult, setHintOption, wrap } from './options.ts'
import type { CommandContext, Common } from './rig.ts'

const ROLES = ['sv', 'validator'] as const
type Flags = Common & { config?: string }

/** The jobs of one node; null if its Redis does not answer. */
type NodeReport = { readonly node: string; readonly jobs: NodeJobs | null }
type Retry = (dropped: JobFailure) => Promise<void>

export function addJobCommands(context: CommandContext): void {
  const { command, cluster, redisServer, clock } = context
  const jobs = context.group('jobs', 'waiting and dropped jobs of the automation')
  const nodeHelp = 'sv or validator, with --config; else one of the cluster'
  const configHelp = 'of an operator: the file of `run sv` or `run validator`'

  /** Visits the node of an operator if a configuration is named. Otherwise visits one node of the cluster, or all. */
  const visit = async (
    node: string | undefined,
    { config, dataDir }: Flags,
    work: (reports: readonly NodeReport[], retryAt: (node: string) => Retry) => Promise<void>,
  ): Promise<void> => {
    if (config === undefined) {
      const directory = dataDirectory(dataDir)
      const all = await cluster.jobs(directory)
      const reports = all.filter((one) => node === undefined || one.node === node)
      if (reports.length === 0) throw new UsageError(`no node ${node} of the cluster has jobs`)
      return await work(reports, (at) => (dropped) => cluster.retryJob(directory, at, dropped))
    }
    setHintOption('--config', config)
    const role = ROLES.find((one) => one === node)
    if (role === undefined)
      throw new UsageError('with `--config`, name what it configures: `sv` or `validator`')
    const { readOperatorConfig } = await import('@quorumscan/operator/run')
    const { openOperatorQueues } = await import('@quorumscan/operator/jobs')
    const operator = readOperatorConfig(role, config, () => [])
    const options = { config: operator, redisServer, env: process.env, clock }
    await using own = await openOperatorQueues(options)
    await work([{ node: operator.name, jobs: await own.list() }], () => async (dropped) => {
      await own.retry(dropped)
    })
  }

  command('list', 'show waiting jobs, the last dropped jobs, and paused renewals', jobs)
    .argument('[node]', nodeHelp)
    .option('--config <file>', configHelp)
    .action(async (node: string | undefined, options: Flags) =>
      visit(node, options, async (reports) =>
        printResult(options, reports, reports.flatMap(linesOf).flatMap(wrap).join('\n')),
      ),
    )
  command('retry', 'add dropped jobs again, without waiting for the next sweep', jobs)
    .argument('<node>', nodeHelp)
    .argument('[job/contract...]', 'as `jobs list` shows them (default: all of the node)')
    .option('--config <file>', configHelp)
    .action(async (node: string, wanted: readonly string[], options: Flags) =>
      visit(node, options, async ([one], retryAt) => {
        if (one?.jobs == null) throw new UsageError(`the Redis of ${node} does not answer`)
        const added = select(one.jobs.failures, wanted)
        for (const dropped of added) await retryAt(one.node)(dropped)
        const lines = added.map((dropped) => `${idOf(dropped)} was added again`)
        printResult(options, added, lines.join('\n') || `${one.node}: no dropped jobs`)
      }),
    )
}

function select(failures: readonly JobFailure[], wanted: readonly string[]): readonly JobFailure[] {
  const unknown = wanted.find((id) => !failures.some((failure) => idOf(failure) === id))
  if (unknown !== undefined)
    throw new UsageError(`unknown dropped job ${unknown}: \`quorumscan jobs list\` shows them`)
  return failures.filter((failure) => wanted.length === 0 || wanted.includes(idOf(failure)))
}

function idOf({ job, contractId }: JobFailure): string {
  return `${job}/${contractId}`
}

function linesOf({ node, jobs }: NodeReport): string[] {
  if (jobs === null) return [`${node}: its Redis does not answer`]
  const busy = Object.entries(jobs.queues).flatMap(([name, counts]) => {
    const words = describeQueue(counts)
    return words === '' ? [] : `  ${name}: ${words}`
  })
  const failures = jobs.failures.map(
    (failure) =>
      `  dropped ${formatInstant(failure.at)} ${idOf(failure)}: ${failure.code} ${failure.message}`,
  )
  const heading = `${node}: ${busy.length === 0 ? 'no job waits' : ''}`.trimEnd()
  return [heading, ...busy, ...failures, ...pausedLines(jobs.pausedRenewals)]
}

function pausedLines(paused: NodeJobs['pausedRenewals']): string[] {
  if (paused === null) return []
  const { count, some } = paused
  const lines = some.map(({ reference, user, reason }) => {
    const why = user === null ? 'no user may act as its party' : `user ${user} is ${reason}`
    return `  paused renewal ${reference}: ${why}`
  })
  const more = count - some.length
  return more === 0 ? lines : [...lines, `  and ${more} more paused renewals`]
}
