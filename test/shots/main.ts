/**
 * `npm run docs:shots` starts a cluster, runs the commands of the transcript in README.md, and takes pictures of the
 * console in both themes. It writes all of them, with the digest of their texts. It needs Chromium, and the ports from
 * 4600 on.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDirectory, required } from '@quorumscan/testkit'
import { launchChromium } from '../support/chromium.ts'
import { ROOT } from '../support/root.ts'
import { COMMANDS, LOOKED_UP } from './commands.ts'
import { currentDigest, README, recordDigest, SHOTS } from './shown-texts.ts'
import { type Step, transcriptOf, withTranscript } from './transcript.ts'

const THEMES = ['light', 'dark'] as const
const VIEWPORT = { width: 1280, height: 860 }
/** Lookups and registrations before the pictures, for the charts. */
const LOAD = ['load', '--duration', '45s']
const CLI = ['npx', '--no', '--', 'quorumscan']

required('chromium')
const { path: dataDir, ...temporary } = createDirectory('shots')
try {
  const steps: Step[] = []
  for (const command of COMMANDS) {
    const printed = await run(...command.typed.split(' '))
    steps.push({ ...command, printed: withoutDataDir(printed) })
  }
  await run(...CLI, ...LOAD)
  const { console } = JSON.parse(await run(...CLI, 'status', '--json'))
  await takePictures(console.url)
  writeFileSync(README, withTranscript(readFileSync(README, 'utf8'), transcriptOf(steps)))
  recordDigest(currentDigest())
} finally {
  await run(...CLI, 'down').finally(() => temporary[Symbol.dispose]())
}

/** Runs a command for the cluster of this run. @returns Its output on stdout. */
async function run(...words: readonly string[]): Promise<string> {
  process.stderr.write(`$ ${words.join(' ')}\n`)
  const [file = '', ...args] = [...words, '--data-dir', dataDir]
  const child = spawn(file, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk
  })
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`${words.join(' ')} failed with status ${status}:\n${output}`)
  return output
}

/** The output as for a cluster in the default directory. */
function withoutDataDir(printed: string): string {
  return printed.replaceAll(` --data-dir ${dataDir}`, '').replaceAll(dataDir, '…/.quorumscan')
}

async function takePictures(url: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true })
  const browser = await launchChromium()
  try {
    const page = await browser.newPage({ viewport: VIEWPORT, deviceScaleFactor: 1.5 })
    await page.goto(url)
    await page.getByRole('textbox', { name: 'Name or party' }).fill(LOOKED_UP)
    await page.getByRole('button', { name: 'Look up', exact: true }).click()
    await page.getByText('verified', { exact: true }).waitFor()
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.screenshot({ path: join(SHOTS, `console-${colorScheme}.png`) })
    }
  } finally {
    await browser.close()
  }
}
