/** Generates the page of all variables and flags from the code that reads them. */
import { type Env, EnvError, type NoteVariable, readEnv, type Variable } from '@quorumscan/base'
import { createProgram, EXAMPLES, examplesOf } from '@quorumscan/cli'
import { testEnvironment } from '@quorumscan/cli/testing'
import {
  readOperatorAddress,
  readScanConfig,
  readSynchronizerConfig,
  readValidatorConfig,
} from '@quorumscan/config'
import { BACKUP_VARIABLES, OPTIONAL_VARIABLES, OWN_VARIABLES } from '@quorumscan/operator/run'
import { RIG } from 'quorumscan/commands'

type Command = ReturnType<typeof createProgram>['program']

/** Readers of variables, with the variables that make them read further ones. */
const PROCESSES = [
  ['run', (env: Env, note?: NoteVariable) => readEnv(env, readOperatorAddress, note), {}],
  ['scan', readScanConfig, {}],
  ['synchronizer', readSynchronizerConfig, {}],
  ['synchronizer', readSynchronizerConfig, { QS_ENGINE_HOME: 'here' }],
  ['validator', readValidatorConfig, {}],
] as const

/** `defaults` has the default for each process that reads the variable. */
type Row = Omit<Variable, 'fallback'> & { readonly defaults: Map<string, string> }

/** The text of `docs/configuration.md`. */
export function configurationPage(): string {
  const rows = variableRows().map(({ name, about, example, defaults }) => [
    `\`${name}\``,
    about,
    [...new Set(defaults.values())].join(' or '),
    `\`${example}\``,
    [...defaults.keys()].join(', '),
  ])
  return [
    '# Configuration',
    '`npm run generate` writes this page from the code. [operations.md](operations.md) describes the variables that an operator sets.',
    '## Variables of processes',
    '`quorumscan run` reads the variables marked "run", derives others from them (`QS_NODES`, `QS_SEEDS`, sockets, key files), and passes the ' +
      'rest to its processes. A process that is started alone (`node dist/apps/scan/main.js`) reads the variables marked with its name, and refuses to start with a variable of `QS_` that is not on this page.',
    table(['variable', 'what', 'default', 'example', 'read by'], rows),
    '`npm start` and `quorumscan up` read `QS_INSPECT`, the name of a process such as `sv-1`: a debugger can attach to it at 127.0.0.1:9229.',
    '## Commands and their flags',
    ...commandsOf(createProgram(testEnvironment(), RIG).program).map(describeCommand),
    '',
  ].join('\n\n')
}

function variableRows(): readonly Row[] {
  const rowByName = new Map<string, Row>()
  const noteOf =
    (reader: string): NoteVariable =>
    ({ fallback, ...variable }) => {
      const row = rowByName.get(variable.name) ?? { ...variable, defaults: new Map() }
      row.defaults.set(reader, fallback === null ? '**needed**' : codeOf(fallback))
      rowByName.set(variable.name, row)
    }
  for (const [name, meaning] of Object.entries(OWN_VARIABLES))
    noteOf('run')({ name, ...meaning, fallback: null })
  for (const [name, meaning] of Object.entries(OPTIONAL_VARIABLES))
    noteOf('run')({ name, ...meaning, fallback: '' })
  for (const [name, meaning] of Object.entries(BACKUP_VARIABLES))
    noteOf('backup')({ name, ...meaning, fallback: '' })
  for (const [name, read, env] of PROCESSES) noteVariables((note) => read(env, note), noteOf(name))
  return [...rowByName.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Collects the variables that a process reads, although required ones are not set. */
function noteVariables(read: (note: NoteVariable) => unknown, note: NoteVariable): void {
  try {
    read(note)
  } catch (error) {
    if (!(error instanceof EnvError)) throw error
  }
}

type Named = { readonly name: string; readonly command: Command }

function commandsOf(parent: Pick<Command, 'commands'>, group = ''): readonly Named[] {
  return parent.commands.flatMap((command) => {
    const name = `${group}${command.name()}`
    return command.commands.length > 0 ? commandsOf(command, `${name} `) : [{ name, command }]
  })
}

function describeCommand({ name, command }: Named): string {
  const args = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  )
  const options = command.options.filter(({ hidden }) => !hidden)
  const rows = options.map((option) => [
    `\`${option.flags}\``,
    option.description,
    option.mandatory ? '**needed**' : defaultOf(option),
  ])
  return [
    `### \`${['quorumscan', name, ...args].join(' ')}\``,
    `${command.description()}.`,
    examplesOf(name, [...RIG.examples, ...EXAMPLES])
      .map((example) => `    quorumscan ${example}`)
      .join('\n'),
    table(['flag', 'what', 'default'], rows),
  ].join('\n\n')
}

/** As `--help` shows it, e.g. `10s`. The default data directory depends on the installation. */
function defaultOf({ defaultValueDescription, defaultValue }: Command['options'][number]): string {
  const text = String(defaultValueDescription ?? defaultValue ?? '')
  return codeOf(text.replace(/^.*\/(?=\.quorumscan$)/, ''))
}

function codeOf(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
