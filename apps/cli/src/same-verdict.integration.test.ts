/**
 * `run --check` means that it will start: each variable has each kind of wrong value, and both say the same. What `--check`
 * accepts, real processes accept at their start.
 *
 * @module-tag rest
 */
import type { EventEmitter } from 'node:events'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { dataDirectory, type Runnable } from '@quorumscan/operator'
import { createGenesis, makeMember } from '@quorumscan/operator/ceremony'
import {
  checkedOperator,
  checkStart,
  describeCheck,
  readOperatorConfig,
  runOperator,
  validateProcesses,
  variablesOf,
} from '@quorumscan/operator/run'
import { messageOf } from '@quorumscan/runtime'
import { freePort, required, until } from '@quorumscan/testkit'
import { bundleProgram } from '@quorumscan/testkit/bundle-program'
import { captureOutput, directoryOfFile } from '@quorumscan/testkit/fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from './main.ts'
import { testEnvironment } from './testing/environment.ts'

const root = directoryOfFile()
const startDirectory = process.cwd()
const at = (name: string) => join(root, name)
const clock = createSystemClock()

/** Of each kind one: texts, numbers, addresses and files that no variable may have, or only some. */
const WRONG: Readonly<Record<string, string>> = {
  'a word': 'x',
  'a blank': ' ',
  'a list of nothing': ',,',
  'less than nothing': '-1',
  nothing: '0',
  'half of something': '1.5',
  'more than there is': '99999999999999999999',
  'an absent file': at('nowhere/file'),
  'a directory': root,
  'an empty file': at('empty'),
  'a file of something else': at('binary'),
  'half an address': 'https://',
  'an address with a password': 'https://user:secret@a.example',
  'an address with a path and more': 'ftp://a.example/b?c#d',
  'a port that is none': '127.0.0.1:99999',
}

/** It makes a synchronizer one that orders with others, which needs more variables. `run` sets it. */
const ENGINE_HOME = 'QS_ENGINE_HOME'
/** Where none of this operator's processes listens. */
const SILENT = 'https://127.0.0.1:1'
const ENGINE_ADDRESS = '127.0.0.1:26656'

const programs: Disposable[] = []
const entryFiles = { scan: '', synchronizer: '', validator: '' }

beforeAll(async () => {
  // Some of the wrong values are relative paths, of which processes make directories.
  mkdirSync(at('working-directory'))
  process.chdir(at('working-directory'))
  mkdirSync(at('members'))
  const enroll = (role: 'super-validator' | 'synchronizer' | 'validator', name: string) => {
    const directory = dataDirectory(at(name))
    const url = role === 'super-validator' ? SILENT : null
    const member = makeMember(directory, role, {
      name,
      createdAtMicros: 1,
      url,
      engineAddress: null,
    })
    copyFileSync(directory.memberFile(name), join(at('members'), `${name}.member.json`))
    return member
  }
  const members = [enroll('super-validator', 'sv-1'), enroll('synchronizer', 'orderer')]
  enroll('validator', 'v')
  const genesis = createGenesis(members, { driver: 'redis', overrides: {} })
  writeFileSync(at('genesis.json'), JSON.stringify(genesis))
  const directory = dataDirectory(at('member'))
  const about = { name: 'sv-1', createdAtMicros: 1, url: SILENT, engineAddress: ENGINE_ADDRESS }
  const alone = [makeMember(directory, 'super-validator', about)]
  const ofEngines = createGenesis(alone, { driver: 'cometbft', overrides: {} })
  writeFileSync(at('genesis-of-engines.json'), JSON.stringify(ofEngines))
  mkdirSync(at('members-of-engines'))
  copyFileSync(directory.memberFile('sv-1'), join(at('members-of-engines'), 'sv-1.member.json'))
  writeFileSync(at('token'), 'a-token-of-22-letters_')
  writeFileSync(at('secret'), 'ab'.repeat(32))
  writeFileSync(at('empty'), '')
  writeFileSync(at('binary'), Uint8Array.of(0, 1, 254, 255))
  for (const app of ['scan', 'synchronizer', 'validator'] as const) {
    const code = `import '../../${app}/src/main.ts'`
    const program = await bundleProgram(code, import.meta.dirname)
    programs.push(program)
    entryFiles[app] = program.file
  }
})
afterAll(() => {
  process.chdir(startDirectory)
  for (const program of programs) program[Symbol.dispose]()
})

type Operator = {
  readonly title: string
  readonly role: Runnable
  /** Whether its processes are started with what the checks accept. */
  readonly isStarted: boolean
  readonly variables: Readonly<Record<string, string>>
}

const COMMON = { QS_GENESIS: at('genesis.json'), QS_MEMBERS: at('members'), QS_PORT: '0' }
const OPERATORS: readonly Operator[] = [
  {
    title: 'sv',
    role: 'sv',
    isStarted: true,
    variables: {
      ...COMMON,
      QS_NAME: 'sv-1',
      QS_DATA_DIR: at('sv-1'),
      QS_LOG: SILENT,
      QS_LOG_TOKEN_FILE: at('token'),
    },
  },
  {
    title: 'synchronizer',
    role: 'synchronizer',
    isStarted: true,
    variables: {
      ...COMMON,
      QS_NAME: 'orderer',
      QS_DATA_DIR: at('orderer'),
      QS_PEER_TOKENS_FILE: at('token'),
    },
  },
  {
    title: 'validator',
    role: 'validator',
    isStarted: true,
    variables: {
      ...COMMON,
      QS_NAME: 'v',
      QS_DATA_DIR: at('v'),
      QS_LOG: SILENT,
      QS_LOG_TOKEN_FILE: at('token'),
      QS_JWT_SECRET_FILE: at('secret'),
      QS_ALLOW_PRIVATE_ADDRESSES: '1',
    },
  },
  {
    title: 'sv that orders',
    role: 'sv',
    isStarted: false,
    variables: {
      QS_NAME: 'sv-1',
      QS_DATA_DIR: at('member'),
      QS_GENESIS: at('genesis-of-engines.json'),
      QS_MEMBERS: at('members-of-engines'),
      QS_PORT: '0',
      QS_SYNCHRONIZER_PORT: '4624',
      QS_ENGINE_ADDRESS: ENGINE_ADDRESS,
    },
  },
]

/** The file of an operator, with these changes. Returns its path. */
function write({ title, variables }: Operator, changes: Readonly<Record<string, string>>): string {
  const file = at(`${title.replaceAll(' ', '-')}.env`)
  const all = Object.entries({ ...variables, ...changes })
  const lines = all.map(([name, value]) => `${name}='${value}'\n`)
  writeFileSync(file, lines.join(''))
  return file
}

const given = { redisServer: required('redis'), env: process.env, clock }

/** What is wrong with the configuration, before any check of other machines; null: nothing. */
function problemsOf(role: Runnable, file: string): string | null {
  try {
    readOperatorConfig(role, file, validateProcesses)
    return null
  } catch (error) {
    return messageOf(error)
  }
}

/** What the checks refuse. `run` makes the same. */
async function failuresOf(role: Runnable, file: string): Promise<readonly string[]> {
  const config = readOperatorConfig(role, file, validateProcesses)
  const checks = await checkStart(checkedOperator({ ...given, config }), false)
  return checks.filter(({ state }) => state === 'failed').map(describeCheck)
}

/** What a command listens to, as the last thing that its process does. */
const LISTENING: readonly (readonly [EventEmitter, string])[] = [
  [process.stdout, 'error'],
  [process.stderr, 'error'],
  [process, 'SIGINT'],
  [process, 'SIGTERM'],
  [process, 'SIGHUP'],
]

/** The exit status of a command, and what it printed. */
async function type(...args: readonly string[]) {
  const before = LISTENING.map(([emitter, event]) => emitter.listeners(event))
  using output = captureOutput()
  try {
    const code = await main(args, testEnvironment())
    return { code, printed: output.stderr }
  } finally {
    for (const [index, [emitter, event]] of LISTENING.entries())
      for (const listener of emitter.listeners(event))
        if (!before[index]?.includes(listener)) emitter.off(event, listener as () => void)
  }
}

describe.each(OPERATORS)('$title', (operator) => {
  const { role } = operator
  it.each(Object.entries(WRONG))(
    'each variable as %s',
    { tags: ['many-cases'] },
    async (_, value) => {
      const config = readOperatorConfig(role, write(operator, {}), validateProcesses)
      const accepted: Record<string, string> = {}
      const refused: string[] = []
      for (const name of variablesOf(config)) {
        if (name === ENGINE_HOME) continue
        const problem = problemsOf(role, write(operator, { [name]: value }))
        if (problem === null) accepted[name] = value
        else refused.push(name)
        // Each names what must be corrected.
        expect(problem ?? name, `${name}=${value}`).toContain(name)
      }
      for (const name of refused) {
        const command = ['run', role, '--config', write(operator, { [name]: value })]
        const verdict = await type(...command)
        expect(verdict.code, name).toBe(2)
        expect(await type(...command, '--check'), name).toEqual(verdict)
      }
      // All others at once: a process reads each of them. What a check refuses is left out, by its name.
      delete accepted['OTEL_EXPORTER_OTLP_ENDPOINT'] // A program of tests cannot load its packages.
      const rest = { QS_LOG_LEVEL: 'info', QS_PORT: String(await freePort()) }
      const fileOf = () => write(operator, { ...accepted, ...rest })
      for (const failure of await failuresOf(role, fileOf())) {
        const names = Object.keys(accepted).filter((name) => failure.includes(name))
        expect(names, failure).not.toEqual([])
        for (const name of names) delete accepted[name]
      }
      const file = fileOf()
      expect(await failuresOf(role, file)).toEqual([])
      if (!operator.isStarted) return
      const lines: string[] = []
      const restarts: string[] = []
      const log = {
        report(sentence: string) {
          if (sentence.includes('restarting')) restarts.push(sentence)
        },
        pass: (_: string, line: string) => void lines.push(line),
      }
      await using running = await runOperator({
        ...given,
        config: readOperatorConfig(role, file, validateProcesses),
        entryFiles,
        log,
      })
      const listening = until(`${role} to start with ${JSON.stringify(accepted)}`, () => {
        if (restarts.length > 0) throw new Error([...restarts, ...lines].join('\n'))
        return lines.some((line) => line.includes('accepts connections at')) ? true : undefined
      })
      await Promise.race([listening, running.failed])
    },
  )
})
