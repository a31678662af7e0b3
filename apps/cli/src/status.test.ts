/** The output of checks on a terminal, and the role of an operator's file. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { afterEach, expect } from 'vitest'
import { setHintOption } from './options.ts'
import { runCommandLine } from './program.ts'
import { exitOfChecks, formatChecks } from './status.ts'
import { testEnvironment } from './testing/environment.ts'

const it = base.extend('root', ({ directory }) => directory)
afterEach(() => setHintOption('--config', null))

const disk = { name: 'disk', state: 'ok', detail: '9 MiB are free', advice: null } as const
const peers = {
  name: 'peers',
  state: 'warning',
  detail: 'sv-2: refused, sv-3: refused, sv-4: untrusted certificate, sv-5: \u001b[2J',
  advice: 'They may not run yet. If they do, check names, firewall and certificates',
} as const
const processes = {
  name: 'processes',
  state: 'failed',
  detail: 'none runs',
  advice: 'Check it with `quorumscan run sv --check`, then start it',
} as const

it('shows each check in 80 columns, then what to do, with the file in commands', () => {
  setHintOption('--config', 'sv.env')
  expect(formatChecks([disk, peers, processes])).toEqual([
    'ok       disk           9 MiB are free',
    'warning  peers          sv-2: refused, sv-3: refused, sv-4: untrusted\n' +
      '                        certificate, sv-5: \\u{1b}[2J',
    'FAILED   processes      none runs',
    '',
    'What to do:',
    '  peers        They may not run yet. If they do, check names, firewall and\n' +
      '               certificates.',
    '  processes    Check it with `quorumscan run sv --check --config sv.env`, then\n' +
      '               start it.',
  ])
})

it('the exit status is that of failures, and there may be nothing to do', () => {
  expect(formatChecks([disk]).at(-1)).toBe('Nothing to do.')
  expect([[disk], [disk, peers], [peers, processes]].map(exitOfChecks)).toEqual([0, 0, 1])
  expect(exitOfChecks([{ ...processes, isMisconfigured: true }, processes])).toBe(2)
})

it('names what is missing if the file names no key of this machine', async ({ root }) => {
  const file = join(root, 'run.env')
  const status = () => runCommandLine(['status', '--config', file], testEnvironment())
  await expect(status()).rejects.toThrow('the configuration cannot be read')
  writeFileSync(file, `QS_NAME=sv-1\nQS_DATA_DIR=${root}\n`)
  await expect(status()).rejects.toThrow(`${file} names no operator of this machine`)
  const plain = runCommandLine(['status'], testEnvironment())
  await expect(plain).rejects.toThrow('no cluster runs on this machine')
})
