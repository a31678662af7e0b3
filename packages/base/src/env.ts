/** Turning environment variables into a config: all that is missing or bad is reported at once. */

export type Env = Readonly<Record<string, string | undefined>>

/**
 * What the environment, or a file that it names, says is wrong: starting again changes nothing. The message is for an
 * operator, one problem a line.
 */
export class EnvError extends Error {
  override readonly name: string = 'EnvError'
}

/** The exit status of a process that an `EnvError` ended. */
export const CONFIGURATION_EXIT = 2

/** What a variable means to whoever sets it: in the documentation this is its row. */
export type Meaning = {
  readonly about: string
  readonly example: string
  /** It names a file, which must be there: throws if what the file holds is not what it must. */
  readonly file?: (text: string) => unknown
  /** What a text that is set is read as; where it throws, its message is the problem. */
  readonly read?: (text: string) => string
}

/** A variable as it was asked for. */
export type Variable = Omit<Meaning, 'read'> & {
  readonly name: string
  /** Null: it has to be set. Empty: without it there is none. */
  readonly fallback: string | null
}

/** What a config is built from; each call notes what is missing or bad. */
export type EnvReader = {
  text(name: string, options: Meaning & { readonly fallback?: string }): string
  optional(name: string, options: Meaning): string | null
  /** A text that is read further; where `parse` throws, its message is the problem. */
  parsed<Value>(
    name: string,
    options: Meaning & { readonly parse: (text: string) => readonly Value[] },
  ): readonly Value[]
  integer(
    name: string,
    options: Meaning & { readonly min: number; readonly max: number; readonly fallback?: number },
  ): number
  /** Reports what only the caller can see, such as two variables that exclude each other. */
  problem(text: string): void
}

/** Told of each variable that is asked for. */
export type NoteVariable = (variable: Variable) => void

/**
 * Builds a config by reading variables, each with what it means.
 *
 * @throws {EnvError} That names every missing or bad variable, one a line.
 */
export function readEnv<Config>(
  env: Env,
  build: (reader: EnvReader) => Config,
  note: NoteVariable = () => {},
): Config {
  const problems: string[] = []
  /** Empty counts as not set. */
  const value = (name: string, meaning: Meaning, fallback: string | null) => {
    const { about, example, file, read = (text) => text } = meaning
    note({ name, about, example, fallback, ...(file === undefined ? {} : { file }) })
    const text = env[name] || null
    return text && attempt(name, () => read(text), text)
  }
  const attempt = <Value>(name: string, read: () => Value, otherwise: Value): Value => {
    try {
      return read()
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      return otherwise
    }
  }
  const config = build({
    text(name, options) {
      const { fallback = null } = options
      const text = value(name, options, fallback) ?? fallback
      if (text === null) problems.push(`${name} is not set`)
      return text ?? ''
    },
    optional: (name, options) => value(name, options, ''),
    parsed(name, options) {
      const text = value(name, options, '') ?? ''
      return attempt(name, () => options.parse(text), [])
    },
    integer(name, options) {
      const { min, max, fallback = null } = options
      const text = value(name, options, fallback === null ? null : String(fallback))
      if (text === null) {
        if (fallback === null) problems.push(`${name} is not set`)
        return fallback ?? min
      }
      const number = Number(text)
      if (!/^-?[0-9]+$/.test(text) || number < min || number > max)
        problems.push(`${name} is no integer from ${min} to ${max}: ${JSON.stringify(text)}`)
      return number
    },
    problem: (text) => problems.push(text),
  })
  if (problems.length > 0) throw new EnvError(problems.join('\n'))
  return config
}
