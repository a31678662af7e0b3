/** Reads a configuration from environment variables. Reports all missing and invalid variables at once. */

import { describeFileError } from './file-errors.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** One thing that is wrong with a configuration. Code decides by its members, and never by its sentence. */
export type EnvProblem = {
  /** The variable that is to be set, corrected or left out. */
  readonly variable: string
  /** Of a contradiction: the others that it is between. */
  readonly others?: readonly string[]
  /** What of it is wrong: nothing reads that name; its text, or that it has none; the file that it names. */
  readonly place: 'name' | 'value' | 'file'
} & (
  | { /** After the variable and a colon. */ readonly why: string }
  | {
      /** One that names the variable itself, such as with another one. */ readonly sentence: string
    }
)

/** The problem in words, for an operator. */
export function describeProblem(problem: EnvProblem): string {
  return 'why' in problem ? `${problem.variable}: ${problem.why}` : problem.sentence
}

/**
 * The environment, or a file that it names, is wrong: a restart changes nothing. The message is for an operator, one
 * problem a line.
 */
export class EnvError extends Error {
  override readonly name: string = 'EnvError'
  /** Empty: it is about a file that no variable names. */
  readonly problems: readonly EnvProblem[]

  constructor(problems: string | readonly EnvProblem[], options?: ErrorOptions) {
    const sentences =
      typeof problems === 'string' ? [problems] : new Set(problems.map(describeProblem))
    super([...sentences].join('\n'), options)
    this.problems = typeof problems === 'string' ? [] : problems
  }
}

/** Present in the environment of every process of a supervisor; the value is the data directory. */
export const MARKER_VARIABLE = 'QUORUMSCAN_CLUSTER'

/** The exit status of a process that an `EnvError` ended. */
export const CONFIGURATION_EXIT = 2

/** What a variable is for, and how its text is read: its row in the documentation. */
export type VariableSpec = {
  readonly about: string
  readonly example: string
  /** It names a file, which must exist. Throws if the content of the file is invalid. */
  readonly file?: (text: string) => unknown
  /** Parses a text that is set; where it throws, its message is the problem. */
  readonly read?: (text: string) => string
}

/** A variable that a configuration reads. */
export type Variable = Omit<VariableSpec, 'read'> & {
  readonly name: string
  /** Null: it is required. Empty: it is optional, without a default. */
  readonly fallback: string | null
}

/** Receives each variable that is read. */
export type NoteVariable = (variable: Variable) => void

/** Reads variables; each call notes what is missing or invalid. */
export type EnvReader = ReturnType<typeof createEnvReader>

/**
 * Builds a config by reading variables, each with its specification.
 *
 * @throws {EnvError} Which names every missing or invalid variable, one per line.
 */
export function readEnv<Config>(
  env: Env,
  build: (reader: EnvReader) => Config,
  note: NoteVariable = () => {},
): Config {
  const problems: EnvProblem[] = []
  const config = build(createEnvReader(env, problems, note))
  if (problems.length > 0) throw new EnvError(problems)
  return config
}

function createEnvReader(env: Env, problems: EnvProblem[], note: NoteVariable) {
  const wrong = (variable: string, sentence: string) =>
    problems.push({ variable, place: 'value', sentence })
  /** Empty counts as not set. */
  const value = (name: string, spec: VariableSpec, fallback: string | null) => {
    const { about, example, file, read = (text) => text } = spec
    note({ name, about, example, fallback, ...(file === undefined ? {} : { file }) })
    const text = env[name] || null
    return text && attempt(name, () => read(text), text)
  }
  const attempt = <Value>(name: string, read: () => Value, otherwise: Value): Value => {
    try {
      return read()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const ofFile = describeFileError(error)
      const place = ofFile === undefined ? 'value' : 'file'
      problems.push({ variable: name, place, why: ofFile ?? message })
      return otherwise
    }
  }
  return {
    text(name: string, options: VariableSpec & { readonly fallback?: string }): string {
      const { fallback = null } = options
      const text = value(name, options, fallback) ?? fallback
      if (text === null) wrong(name, `${name} is not set`)
      return text ?? ''
    },
    optional: (name: string, options: VariableSpec): string | null => value(name, options, ''),
    /** A text that is parsed into values; where `parse` throws, its message is the problem. */
    parsed<Value>(
      name: string,
      options: VariableSpec & { readonly parse: (text: string) => readonly Value[] },
    ): readonly Value[] {
      const text = value(name, options, '') ?? ''
      return attempt(name, () => options.parse(text), [])
    },
    integer(
      name: string,
      options: VariableSpec & {
        /** The least and the greatest value. */
        readonly range: readonly [min: number, max: number]
        readonly fallback?: number
      },
    ): number {
      const { fallback = null } = options
      const [min, max] = options.range
      const text = value(name, options, fallback === null ? null : String(fallback))
      if (text === null && fallback === null) wrong(name, `${name} is not set`)
      if (text === null) return fallback ?? min
      const number = Number(text)
      if (!/^-?[0-9]+$/.test(text) || number < min || number > max)
        wrong(name, `${name} must be an integer from ${min} to ${max}, not ${JSON.stringify(text)}`)
      return number
    },
    /** Whether a variable that is `0` or `1` is `1`. Default: `0`. */
    flag(name: string, options: VariableSpec): boolean {
      const text = value(name, options, '') || '0'
      if (!['0', '1'].includes(text))
        wrong(name, `${name} must be 0 or 1, not ${JSON.stringify(text)}`)
      return text === '1'
    },
    /** Reports what only the caller can see, such as two variables that exclude each other. */
    problem(problem: EnvProblem): void {
      problems.push(problem)
    },
    /** The same of variables that do not go together. @param sentence - Names them. */
    contradiction([variable, ...others]: readonly [string, ...string[]], sentence: string): void {
      problems.push({ variable, others, place: 'value', sentence })
    },
  }
}
