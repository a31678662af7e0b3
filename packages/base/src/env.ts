/** Turning environment variables into a config: all that is missing or bad is reported at once. */

export type Env = Readonly<Record<string, string | undefined>>

export class EnvError extends Error {
  override readonly name = 'EnvError'
}

/** What a config is built from; each call notes what is missing or bad. */
export type EnvReader = {
  text(name: string, fallback?: string): string
  optional(name: string): string | null
  /** A text that is read further; where `parse` throws, its message is the problem. */
  parsed<Value>(name: string, parse: (text: string) => readonly Value[]): readonly Value[]
  integer(name: string, range: { min: number; max: number; fallback?: number }): number
  /** Reports what only the caller can see, such as two variables that exclude each other. */
  problem(text: string): void
}

/**
 * Builds a config by reading variables, e.g. `readEnv(env, (v) => ({port: v.integer('QS_PORT', {min: 0, max: 65535})}))`.
 *
 * @throws {EnvError} That names every missing or bad variable, one a line.
 */
export function readEnv<Config>(env: Env, build: (reader: EnvReader) => Config): Config {
  const problems: string[] = []
  const config = build({
    text(name, fallback) {
      const value = env[name]
      if (value !== undefined && value !== '') return value
      if (fallback === undefined) problems.push(`${name} is not set`)
      return fallback ?? ''
    },
    optional: (name) => env[name] || null,
    parsed(name, parse) {
      try {
        return parse(env[name] ?? '')
      } catch (error) {
        problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
        return []
      }
    },
    integer(name, range) {
      const value = env[name]
      if (value === undefined || value === '') {
        if (range.fallback === undefined) problems.push(`${name} is not set`)
        return range.fallback ?? range.min
      }
      const number = Number(value)
      if (!/^-?[0-9]+$/.test(value) || number < range.min || number > range.max)
        problems.push(
          `${name} is no integer from ${range.min} to ${range.max}: ${JSON.stringify(value)}`,
        )
      return number
    },
    problem: (text) => problems.push(text),
  })
  if (problems.length > 0) throw new EnvError(problems.join('\n'))
  return config
}
