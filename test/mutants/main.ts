/**
 * `npm run mutants -- --sample 50 --seed 1`: shows how many small changes of the product the tests notice. Each mutant is
 * made at a random place of a random line, and the tests that import its file run until one fails.
 *
 *   --sample N     mutants (50)
 *   --seed S       draws the same mutants for the same sources ("1")
 *   --files GLOB   only of files whose path contains this text
 *   --seconds N    of the recorded time of tests for each mutant (60): the nearest tests first
 *   --min SHARE    the exit status is 1 below this share of noticed mutants (0.85)
 *   --json FILE    writes the mutants with what became of them
 *
 * A mutant is noticed if a test fails or does not end. One that does not compile is replaced by another one: types are
 * checked where all tests pass. `unseen.json` lists those that no test can see, each with the reason: they do not count,
 * and are at most 5 % of a sample.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createSeededIntegers, slowness } from '@quorumscan/testkit'
import { productSources, read } from '../support/tree.ts'
import { compiles } from './compiles.ts'
import { createRelated, type Related } from './related.ts'
import { type Site, sitesOf } from './sites.ts'

const ROOT = join(import.meta.dirname, '../..')
const PRODUCT = /^(?:packages|apps|cluster|sdk)(?:\/[^/]+)?\/src\/.*\.tsx?$/
/** A run of tests may take so much longer than recorded before it counts as one that does not end. */
const PATIENCE = 6
const START_SECONDS = 60
/** The nearest tests run first, alone: most mutants are noticed by them. */
const NEAREST_SECONDS = 5
const UNSEEN_SHARE_MAX = 0.05

type Outcome = 'noticed' | 'does not end' | 'survived' | 'unseen' | 'no test'
type Drawn = Site & { readonly file: string }
type Judged = Drawn & { readonly outcome: Outcome; readonly by: string | null }

export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sample: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      files: { type: 'string', default: '' },
      seconds: { type: 'string', default: '60' },
      min: { type: 'string', default: '0.85' },
      json: { type: 'string' },
    },
  })
  const product = productSources.filter(
    (file) => PRODUCT.test(file) && !file.includes('/testing/') && file.includes(values.files),
  )
  const relatedTo = createRelated()
  const draw = createDraw(product, values.seed)
  const judged: Judged[] = []
  const unseen = readUnseen()
  while (judged.length < Number(values.sample)) {
    const mutant = draw()
    const outcome = unseen.has(nameOf(mutant))
      ? { outcome: 'unseen' as const, by: null }
      : await judge(mutant, relatedTo(mutant.file), Number(values.seconds))
    if (outcome === null) continue
    judged.push({ ...mutant, ...outcome })
    print({ ...mutant, ...outcome })
  }
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(judged, null, 1))
  return summarize(judged, Number(values.min))
}

/** Draws a line that can be mutated, then one of its mutants; each mutant once. */
function createDraw(product: readonly string[], seed: string): () => Drawn {
  const below = createSeededIntegers(`mutants ${seed}`)
  const lines = product.flatMap((file) => {
    const byLine = new Map<number, Drawn[]>()
    for (const site of sitesOf(read(file)))
      byLine.set(site.line, [...(byLine.get(site.line) ?? []), { ...site, file }])
    return [...byLine.values()]
  })
  return () => {
    const at = below(lines.length)
    const [line = []] = lines.splice(at, 1)
    const drawn = line[below(Math.max(1, line.length))]
    if (drawn === undefined) throw new Error('there are no more lines to mutate')
    return drawn
  }
}

/** Null: it does not compile. */
async function judge(
  mutant: Drawn,
  related: readonly Related[],
  secondsMax: number,
): Promise<{ outcome: Outcome; by: string | null } | null> {
  const chosen = take(related, secondsMax)
  if (chosen.length === 0) return { outcome: 'no test', by: null }
  const nearest = take(chosen, NEAREST_SECONDS)
  for (const tests of [nearest, chosen.slice(nearest.length)]) {
    if (tests.length === 0) continue
    const seconds = tests.reduce((sum, test) => sum + test.seconds, 0)
    const limitMs = 1000 * slowness() * (START_SECONDS + PATIENCE * seconds)
    const { status, output } = await runTests(mutant, tests, limitMs)
    if (status === 'does not end') return { outcome: status, by: null }
    const [, by = null] = /FAIL .*? (\S+\.test\.ts)/.exec(output) ?? []
    if (status !== 0) return { outcome: 'noticed', by }
  }
  return compiles(mutant) ? { outcome: 'survived', by: null } : null
}

/** The first tests that together take so long; at least one. */
function take(tests: readonly Related[], secondsMax: number): readonly Related[] {
  let seconds = 0
  const end = tests.findIndex((test, index) => {
    seconds += test.seconds
    return index > 0 && seconds > secondsMax
  })
  return end < 0 ? tests : tests.slice(0, end)
}

async function runTests(mutant: Drawn, tests: readonly Related[], limitMs: number) {
  const { file, start, end, text } = mutant
  const env = {
    ...process.env,
    QS_MUTANT: JSON.stringify({ file, start, end, text }),
    TEST_SET: 'all',
    NO_COLOR: '1',
  }
  const files = tests.map((test) => test.file)
  const words = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--bail=1', ...files]
  // A group of its own, which is ended as a whole.
  const child = spawn(process.execPath, words, { cwd: ROOT, env, detached: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      output = (output + bytes).slice(-100_000)
    })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, limitMs)
  const [status] = await once(child, 'close')
  clearTimeout(timer)
  return { status: isLate ? ('does not end' as const) : (status as number | null), output }
}

/** The names of mutants that no test can see. */
function readUnseen(): ReadonlySet<string> {
  const listed: readonly { readonly mutant: string; readonly reason: string }[] = JSON.parse(
    readFileSync(join(import.meta.dirname, 'unseen.json'), 'utf8'),
  )
  return new Set(listed.map(({ mutant }) => mutant))
}

/** The same while the line stays as it is. */
function nameOf(mutant: Drawn): string {
  const [before, after] = linesOf(mutant)
  return `${mutant.file}: ${before} -> ${after}`
}

/** The line without and with the mutant. */
function linesOf({ file, start, end, text }: Drawn): readonly [string, string] {
  const code = read(file)
  const from = code.lastIndexOf('\n', start - 1) + 1
  const lineEnd = code.indexOf('\n', end)
  const to = lineEnd < 0 ? code.length : lineEnd
  const tidy = (line: string) => line.trim().replaceAll(/\s+/g, ' ')
  return [tidy(code.slice(from, to)), tidy(code.slice(from, start) + text + code.slice(end, to))]
}

function print(mutant: Judged): void {
  const [before, after] = linesOf(mutant)
  const by = mutant.by === null ? '' : ` by ${mutant.by}`
  process.stdout.write(
    `${mutant.outcome}${by}\n  ${mutant.file}:${mutant.line} (${mutant.operator})\n  - ${before}\n  + ${after}\n`,
  )
}

function summarize(judged: readonly Judged[], min: number): number {
  const count = (...outcomes: readonly Outcome[]) =>
    judged.filter(({ outcome }) => outcomes.includes(outcome)).length
  const noticed = count('noticed', 'does not end')
  const counted = judged.length - count('unseen')
  const share = counted === 0 ? 1 : noticed / counted
  process.stdout.write(
    `${noticed} of ${counted} mutants are noticed (${(100 * share).toFixed(0)} %): ${count('survived')} survived, ` +
      `${count('no test')} without a test; ${count('unseen')} that no test can see\n`,
  )
  return share >= min && count('unseen') <= UNSEEN_SHARE_MAX * judged.length ? 0 : 1
}
