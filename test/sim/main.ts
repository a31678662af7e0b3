/** The simulation as a program. It runs many seeds, and prints a verdict and how to repeat a failure. */
import { parseArgs } from 'node:util'
import { systemRandom } from '@quorumscan/base'
import { checkCertified, describeCertified } from './certified/certified-check.ts'
import { runCertified } from './certified/certified-run.ts'
import { check, describeViolation } from './check.ts'
import { MODES, type SimMode, simulate } from './simulate.ts'

const READS_DEFAULT = 10_000
export const READS_PER_SEED = 250
const VIOLATIONS_SHOWN = 10

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** Returns the exit status: 0 if no rule was broken, 1 if one was, 2 for invalid arguments. */
export async function main(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      reads: { type: 'string' },
      mode: { type: 'string' },
      certified: { type: 'boolean' },
    },
  })
  const fixed = values.seed ?? env['SEED']
  const first = fixed === undefined ? Math.floor(systemRandom.fraction() * 2 ** 31) : Number(fixed)
  const readCount = Number(values.reads ?? READS_DEFAULT)
  const possible = values.certified ? MODES.filter((mode) => mode !== 'split-log') : MODES
  const modes = possible.filter((mode) => mode === (values.mode ?? mode))
  if (!Number.isSafeInteger(first) || !(readCount > 0) || modes.length === 0) {
    print(`usage: npm run sim -- [--seed N] [--reads N] [--mode ${MODES.join('|')}] [--certified]`)
    return 2
  }
  const seedCount = fixed === undefined ? Math.ceil(readCount / READS_PER_SEED / modes.length) : 1
  print(`first seed ${first}, ${seedCount} seeds, modes ${modes.join(' ')}`)
  const outcomes = new Map<string, number>()
  let failureCount = 0
  for (let seed = first; seed < first + seedCount; seed++)
    for (const mode of modes)
      failureCount += values.certified
        ? await runCertifiedSeed(seed, mode, outcomes)
        : await runSeed({ seed, mode, outcomes })
  for (const [kind, count] of [...outcomes].sort((a, b) => b[1] - a[1])) print(`${count}  ${kind}`)
  print(
    failureCount === 0
      ? `valid: no rule was broken, first seed ${first}`
      : `INVALID: ${failureCount} runs broke a rule, first seed ${first}`,
  )
  return failureCount === 0 ? 0 : 1
}

async function runSeed(input: {
  readonly seed: number
  readonly mode: SimMode
  readonly outcomes: Map<string, number>
}): Promise<number> {
  const { seed, mode, outcomes } = input
  const run = await simulate({ seed, mode, readCount: READS_PER_SEED })
  for (const { outcome } of run.reads)
    outcomes.set(outcome.kind, (outcomes.get(outcome.kind) ?? 0) + 1)
  const violations = check(run)
  if (violations.length === 0) return 0
  print(`seed ${seed}, ${mode}, n = ${run.nodeCount}, lying: ${run.liars.join(' ') || 'none'}`)
  for (const violation of violations.slice(0, VIOLATIONS_SHOWN))
    print(`  ${describeViolation(violation)}`)
  print(`  again: SEED=${seed} npm run sim -- --mode ${mode}`)
  return 1
}

/** The mode split-log does not apply: no state of two logs would be certified. */
async function runCertifiedSeed(
  seed: number,
  mode: SimMode,
  outcomes: Map<string, number>,
): Promise<number> {
  const certifiedMode = mode === 'beyond-f' ? mode : 'at-most-f'
  const run = await runCertified({ seed, mode: certifiedMode, readCount: READS_PER_SEED })
  for (const { outcome } of run.reads)
    outcomes.set(outcome.kind, (outcomes.get(outcome.kind) ?? 0) + 1)
  const violations = checkCertified(run)
  if (violations.length === 0) return 0
  const { members } = run.world.cluster
  print(`seed ${seed}, ${mode}, n = ${members.length}, lying: ${run.liars.join(' ') || 'none'}`)
  for (const violation of violations.slice(0, VIOLATIONS_SHOWN))
    print(`  ${describeCertified(violation)}`)
  print(`  again: SEED=${seed} npm run sim -- --certified --mode ${mode}`)
  return 1
}
