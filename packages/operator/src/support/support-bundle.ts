/**
 * One text file with all that another person needs to help an operator: configuration, versions, checks, metrics,
 * statements, logs. It has no secret (`hide-secrets.ts`), and is also made of a configuration that is wrong.
 */
import { execFile } from 'node:child_process'
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cpus, freemem, release, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { type Clock, type Env, printableLines } from '@quorumscan/base'
import { CommandError, isErrno, messageOf, messageOfWrite } from '@quorumscan/runtime'
import { formatInstant } from '@quorumscan/verifier'
import { ROLE_OF, type Runnable } from '../ceremony/member.ts'
import { describeCheck } from '../checks/check.ts'
import { checkedOperator } from '../checks/operator.ts'
import { checkRunning } from '../checks/running.ts'
import { checkStart } from '../checks/start.ts'
import { dataDirectory } from '../data-directory.ts'
import { hashGenesis } from '../genesis.ts'
import {
  findRole,
  type OperatorConfig,
  readOperatorConfig,
  readVariables,
} from '../run/operator-config.ts'
import { readOperatorMetrics } from '../run/operator-metrics.ts'
import { validateProcesses, variablesOf } from '../run/operator-services.ts'
import { askSignedStates } from '../signed-states.ts'
import { createHiding, HIDDEN, showValue } from './hide-secrets.ts'

/** The end of a log: some hours of a busy member. */
const LOG_BYTES_MAX = 4 * 2 ** 20
const JOURNAL_LINES = 20_000
/** Files with secrets are short. A longer one holds no secret of this kind. */
const SECRET_FILE_BYTES_MAX = 64 * 1024
/** An engine has thousands after years. */
const FILES_MAX = 5_000
const METRICS_BYTES_MAX = 8 * 2 ** 20
const ANSWER_MS_MAX = 10_000
const COMMAND_MS_MAX = 20_000
/** Variables that name files with secrets, among others. */
const SECRET_FILE = /(?:TOKENS?|PASSWORD|USER|SECRET|KEY)_FILE$|_KEY$|^QS_BACKUPS$/

export type BundleOptions = {
  readonly configFile: string
  /** The file to write. */
  readonly file: string
  /** The output of `run`; null: that of its systemd unit is asked for. */
  readonly logFile: string | null
  /** What `--version` prints. */
  readonly versions: string
  readonly redisServer: string
  readonly env: Env
  readonly clock: Clock
}

export type Bundle = {
  readonly file: string
  readonly bytes: number
  /** What is in it, in its order. */
  readonly sections: readonly { readonly name: string; readonly about: string }[]
  /** How many secrets of this machine were looked for. */
  readonly secretCount: number
  /** In how many places something was hidden. */
  readonly hiddenCount: number
}

type Section = { readonly name: string; readonly about: string; readonly text: string }

/** @throws {CommandError} If the configuration cannot be read, or the file exists or cannot be written. */
export async function writeSupportBundle(options: BundleOptions): Promise<Bundle> {
  const { configFile, file, clock } = options
  const variables = readVariables(configFile)
  const found = readConfiguration(configFile)
  const hiding = createHiding(secretsOf(variables, found.known))
  const sections = [
    about(options, found),
    configuration(variables, found),
    ...(await Promise.all([
      guarded('checks', 'what `status` and `run --check` find', () => checks(options, found)),
      guarded('metrics', 'those of all processes', () => metrics(found)),
      guarded('statements', 'the newest states that each node signed', () =>
        statements(options, found),
      ),
      guarded('files', 'names, sizes, rights and owners of files in the data directory', () =>
        files(variables),
      ),
      guarded('log', 'the end of the output of `run`, with addresses of clients', () =>
        log(options, found),
      ),
    ])),
  ]
  const text = sections
    .map(
      (section) =>
        `==== ${section.name}: ${section.about}\n${hiding.hide(section.text).trimEnd()}\n`,
    )
    .join('\n')
  const whole = `A support bundle of quorumscan, of ${formatInstant(clock.nowMicros())}. ${HIDDEN} stands for a secret.\n\n${printableLines(text)}`
  try {
    writeFileSync(file, whole, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    const why = isErrno(cause, 'EEXIST') ? `${file} exists` : messageOfWrite(cause, file)
    throw new CommandError(`no bundle was written: ${why}. Name another file with \`--out\``, {
      cause,
    })
  }
  return {
    file,
    bytes: Buffer.byteLength(whole),
    sections: sections.map(({ name, about }) => ({ name, about })),
    secretCount: hiding.secretCount,
    hiddenCount: hiding.placeCount(),
  }
}

type Configuration = {
  readonly role: Runnable
  readonly config: OperatorConfig | null
  /** Why it is wrong; null: it is right. */
  readonly problem: string | null
  /** The variables that a process reads. */
  readonly known: ReadonlySet<string>
}

/** Also of a wrong one. */
function readConfiguration(file: string): Configuration {
  let known: ReadonlySet<string> = new Set()
  let role: Runnable = 'sv'
  try {
    role = findRole(file)
    const config = readOperatorConfig(role, file, (unchecked) => {
      known = variablesOf(unchecked)
      return validateProcesses(unchecked)
    })
    return { role, config, problem: null, known }
  } catch (error) {
    return { role, config: null, problem: messageOf(error), known }
  }
}

function about({ versions }: BundleOptions, { role, config }: Configuration): Section {
  const lines = [
    ...(config === null
      ? []
      : [`${config.name}, ${ROLE_OF[role]}, genesis ${hashGenesis(config.genesis)}`]),
    versions.trimEnd(),
    `Node.js ${process.version}, ${process.platform} ${release()} ${process.arch}`,
    `${cpus().length} processors, ${freemem()} of ${totalmem()} bytes of memory free, user ${process.getuid?.() ?? 'unknown'}`,
  ]
  return { name: 'about', about: 'operator, versions, machine', text: lines.join('\n') }
}

function configuration(variables: Env, { problem, known }: Configuration): Section {
  const lines = Object.entries(variables).map(([name, value = '']) =>
    known.has(name)
      ? `${name}=${showValue(value)}`
      : `${name}=${HIDDEN}, because no process reads it`,
  )
  return {
    name: 'configuration',
    about: `${lines.length} variables; values of variables that no process reads are hidden`,
    text: [...lines, problem ?? 'no problem was found'].join('\n'),
  }
}

/** All that must not leave this machine. */
function* secretsOf(variables: Env, known: ReadonlySet<string>): Generator<string> {
  const { path, keyFile, secretFile } = dataDirectory(variables['QS_DATA_DIR'] || '/nonexistent')
  for (const directory of [keyFile(''), secretFile(''), join(path, 'keys'), join(path, 'secrets')])
    for (const name of namesIn(directory)) yield readSmall(join(directory, name))
  for (const [name, value = ''] of Object.entries(variables)) {
    if (SECRET_FILE.test(name)) yield readSmall(value)
    // Typed in place of the file, or meant for another program.
    if (!known.has(name) || (SECRET_FILE.test(name) && !value.startsWith('/')))
      yield `${value} ${value.replaceAll('=', ' ')}`
    for (const [, user = '', password = ''] of value.matchAll(/:\/\/([^/\s:@]*):?([^/\s@]*)@/g)) {
      yield user
      yield password
    }
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function readSmall(file: string): string {
  try {
    return statSync(file).size > SECRET_FILE_BYTES_MAX ? '' : readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** What fails is in the bundle with its reason. */
async function guarded(
  name: string,
  about: string,
  read: () => Promise<string> | string,
): Promise<Section> {
  try {
    return { name, about, text: await read() }
  } catch (error) {
    return { name, about: `none (${messageOf(error).split('\n')[0]})`, text: messageOf(error) }
  }
}

function demand(config: OperatorConfig | null): OperatorConfig {
  if (config !== null) return config
  throw new CommandError('the configuration is wrong')
}

async function checks({ redisServer, env, clock }: BundleOptions, found: Configuration) {
  const config = demand(found.config)
  const operator = checkedOperator({ config, redisServer, env, clock })
  const running = await checkRunning(operator, config.backupDirectory)
  const start = await checkStart(operator, running.isRunning)
  return [...running.checks, ...start].map((one) => `${one.state} ${describeCheck(one)}`).join('\n')
}

async function metrics(found: Configuration): Promise<string> {
  const text = await readOperatorMetrics(demand(found.config))
  return text.slice(0, METRICS_BYTES_MAX)
}

async function statements({ redisServer, env, clock }: BundleOptions, found: Configuration) {
  const config = demand(found.config)
  const { nodes, fetch } = checkedOperator({ config, redisServer, env, clock })
  const { states } = await askSignedStates(0, {
    genesis: config.genesis,
    nodes,
    fetch,
    timeoutMs: ANSWER_MS_MAX,
  })
  return JSON.stringify(states, null, 1)
}

function files(variables: Env): string {
  const { path } = dataDirectory(variables['QS_DATA_DIR'] || '/nonexistent')
  const lines = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .slice(0, FILES_MAX)
    .map((file) => {
      const { size, mode, uid, mtimeMs } = statSync(file)
      const time = formatInstant(Math.round(mtimeMs) * 1000)
      return `${(mode & 0o777).toString(8)} ${uid} ${String(size).padStart(12)} ${time} ${file.slice(path.length + 1)}`
    })
  return lines.join('\n')
}

async function log(
  { logFile, configFile }: BundleOptions,
  { role }: Configuration,
): Promise<string> {
  if (logFile !== null) return readEnd(logFile)
  const unit = `quorumscan@${basename(configFile, '.env') || role}`
  try {
    const { stdout } = await promisify(execFile)(
      'journalctl',
      ['-u', unit, '-n', String(JOURNAL_LINES), '-o', 'cat', '--no-pager', '-q'],
      { timeout: COMMAND_MS_MAX, maxBuffer: 256 * 2 ** 20 },
    )
    if (stdout.trim() !== '') return stdout.slice(-LOG_BYTES_MAX)
  } catch {
    // Without systemd.
  }
  throw new CommandError(
    `the journal has nothing of ${unit}: name the output of \`run\` with \`--log\``,
  )
}

/** Whole lines from the end of the file. */
function readEnd(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, LOG_BYTES_MAX))
    const count = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length)
    const text = buffer.toString('utf8', 0, count)
    return size > count ? text.slice(text.indexOf('\n') + 1) : text
  } finally {
    closeSync(descriptor)
  }
}
