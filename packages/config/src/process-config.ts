/** The configuration of a process from its whole environment. A misspelt variable would leave a setting at its default. */
import { type Env, EnvError, MARKER_VARIABLE, type NoteVariable, readEnv } from '@quorumscan/base'
import { didYouMean } from '@quorumscan/runtime'
import { readOperatorAddress } from './connections-config.ts'
import { RUN_VARIABLES } from './run-variables.ts'
import { readScanConfig } from './scan-config.ts'
import { readSynchronizerConfig } from './synchronizer-config.ts'
import { readValidatorConfig } from './validator-config.ts'

type Reader<Config> = (env: Env, note?: NoteVariable) => Config

/**
 * What Kubernetes and Docker put into the environment of a process for a service or container whose name begins with
 * `qs`, such as `QS_SCAN_SERVICE_HOST` and `QS_SCAN_PORT`.
 */
const SERVICE_NAME = /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_|$)/
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//

/** All processes, which may share a file of variables, with those that make them read further ones. */
const READERS: readonly (readonly [Reader<unknown>, Env])[] = [
  [readScanConfig, {}],
  [readSynchronizerConfig, {}],
  [readSynchronizerConfig, { QS_ENGINE_HOME: 'here' }],
  [readValidatorConfig, {}],
  [(env, note) => readEnv(env, readOperatorAddress, note), {}],
]

/**
 * Reads the configuration of this process. A process of a supervisor gets variables of others as well, which `run` has
 * judged. Empty counts as not set.
 *
 * @throws {EnvError} That names every missing, bad or unknown variable.
 */
export function readProcessConfig<Config>(env: Env, read: Reader<Config>): Config {
  const unknown = env[MARKER_VARIABLE] === undefined ? problemsOfNames(env) : []
  const [config, problems] = attempt(() => read(env))
  if (config !== null && unknown.length === 0) return config
  throw new EnvError([...problems, ...unknown].join('\n'))
}

/** Problems of variables that no process reads. */
function problemsOfNames(env: Env): readonly string[] {
  const known: string[] = [...RUN_VARIABLES]
  for (const [read, more] of READERS)
    attempt(() => read({ ...env, ...more }, ({ name }) => known.push(name)))
  const unknown = Object.entries(env).filter(
    ([name, value = '']) =>
      name.startsWith('QS_') &&
      value !== '' &&
      !known.includes(name) &&
      !SERVICE_NAME.test(name) &&
      !SERVICE_ADDRESS.test(value),
  )
  return unknown.map(
    ([name]) => `${name} is not a variable that a process reads${didYouMean(name, known)}`,
  )
}

/** What was read, or null and what is wrong. */
function attempt<Config>(read: () => Config): readonly [Config | null, readonly string[]] {
  try {
    return [read(), []]
  } catch (error) {
    if (!(error instanceof EnvError)) throw error
    return [null, [error.message]]
  }
}
