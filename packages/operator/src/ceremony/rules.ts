/** The rules that a new network starts with: their defaults (D-18), and the values that its operators set. */

import { NEWEST_RULES } from '@quorumscan/ledger'
import { formatAmount, parseDuration, readAmount } from '@quorumscan/model'
import { CommandError, didYouMean, UsageError } from '@quorumscan/runtime'
import {
  type CometbftOrdering,
  EVIDENCE_AGE,
  type Genesis,
  STATE_BYTES_PER_DAY,
} from '@quorumscan/verifier'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

/** How a log is ordered. */
export const ORDERING_DRIVERS = ['redis', 'cometbft'] as const
export type OrderingDriver = (typeof ORDERING_DRIVERS)[number]

type RulesOfAll = Pick<Genesis, keyof typeof RULES_OF_ALL>
type RulesOfEngines = Required<Omit<CometbftOrdering, 'driver' | 'validators'>>
export type NetworkRules = RulesOfAll & { readonly ordering?: RulesOfEngines }

type DeepPartial<T> = {
  readonly [K in keyof T]?: T[K] extends object | undefined ? DeepPartial<NonNullable<T[K]>> : T[K]
}
/** Other values of some rules, e.g. seconds instead of days. */
export type GenesisOverrides = DeepPartial<NetworkRules>

const RULES_OF_ALL = {
  protocolVersion: NEWEST_RULES.version,
  devnet: true as boolean,
  deduplicationMicrosMax: DAY,
  activityRetentionMicros: 90 * DAY,
  stateBytesPerDay: STATE_BYTES_PER_DAY,
  names: {
    entryFeeUsd: '1.0000000000',
    entryLifetimeMicros: 90 * DAY,
    renewalDurationMicros: 30 * DAY,
    descriptionPrefix: 'ANS entry: ',
    requestLifetimeMicros: DAY,
    openRequestsMax: 16,
  },
  coin: { tickMicros: 10 * MINUTE, priceUsd: '0.0050000000', rewardPerRound: '10.0000000000' },
} satisfies Partial<Genesis>
/**
 * For engines that are near each other. A block takes 0.1 s there, and 0.3 s without a proposal mean that its proposer is
 * down. After a block members wait another 0.1 s: a client whose entry was ordered submits the next one, which would
 * otherwise come a whole block later. An idle network makes a block every 3 s. Its time lags by up to 3 s, and readers ask
 * another node about answers older than 12 s.
 */
const RULES_OF_ENGINES: RulesOfEngines = {
  timeouts: {
    proposeMicros: 300_000,
    voteMicros: 200_000,
    commitMicros: 100_000,
    emptyBlockMicros: 3 * SECOND,
  },
  blockBytesMax: 512 * 1024,
  blockContractsMax: 4096,
  evidenceAge: EVIDENCE_AGE,
}

/** Rules by their names, in groups. */
export type Rules = { readonly [name: string]: Leaf | Rules }

/** @throws {CommandError} If the overrides name an unknown rule. It does not check the range of values. */
export function networkRules(driver: string, overrides: GenesisOverrides): NetworkRules {
  const defaults = defaultsOf(driver)
  const { entryLifetimeMicros, renewalDurationMicros } = defaults.names
  const lifetimeMicros = overrides.names?.entryLifetimeMicros ?? entryLifetimeMicros
  // The default window of a short lifetime is all of it.
  const names = { renewalDurationMicros: Math.min(renewalDurationMicros, lifetimeMicros) }
  const changes = { ...overrides, names: { ...names, ...overrides.names } }
  return override(defaults as Rules, changes as Rules, '') as unknown as NetworkRules
}

/** The overrides with which members make a network of the same rules as this one. */
export function rulesOf({ ordering, ...genesis }: Genesis): GenesisOverrides {
  const names = Object.keys(RULES_OF_ALL) as readonly (keyof RulesOfAll)[]
  // An optional rule that the genesis leaves out has its default in both.
  const rules = Object.fromEntries(
    names.filter((name) => genesis[name] !== undefined).map((name) => [name, genesis[name]]),
  )
  if (ordering.driver === 'redis') return rules
  const { driver: _driver, validators: _validators, ...engines } = ordering
  return { ...rules, ordering: { evidenceAge: EVIDENCE_AGE, ...engines } }
}

function defaultsOf(driver: string): NetworkRules {
  return driver === 'cometbft' ? { ...RULES_OF_ALL, ordering: RULES_OF_ENGINES } : RULES_OF_ALL
}

function override(rules: Rules, changes: Rules, path: string): Rules {
  const changed = Object.entries(changes).map(([name, value]) => {
    const current = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (current === undefined)
      throw noRule(
        path + name,
        Object.keys(rules).map((rule) => path + rule),
      )
    if (typeof current !== typeof value || value === null)
      throw new CommandError(`the rule "${path}${name}" must be a ${typeof current}`)
    const isGroup = typeof current === 'object'
    return [name, isGroup ? override(current, value as Rules, `${path}${name}.`) : value]
  })
  return { ...rules, ...Object.fromEntries(changed) }
}

/**
 * The overrides that settings such as `names.entryLifetimeMicros=30d` and `coin.priceUsd=0.01` mean: durations with
 * their unit, amounts with the digits that they need.
 *
 * @throws {UsageError} As `readSettings`, and if a value does not fit its rule.
 */
export function parseSettings(driver: string, settings: readonly string[]): GenesisOverrides {
  const defaults = defaultsOf(driver) as Rules
  const ofEngines = new Set(pathsOf({ ordering: RULES_OF_ENGINES as unknown as Rules }))
  const misplaced = settings.find((setting) => ofEngines.has(setting.split('=', 1)[0] ?? ''))
  if (misplaced !== undefined && driver !== 'cometbft')
    throw new UsageError(
      `${misplaced}: with \`--ordering ${driver}\` no engines order. Leave it out, or use \`--ordering cometbft\``,
    )
  const values = readSettings(settings, pathsOf(defaults), 'names.entryFeeUsd=2.5')
  const changesIn = (rules: Rules, path: string) =>
    Object.entries(rules).flatMap(([name, current]): [string, unknown][] => {
      if (typeof current === 'object') {
        const changes = changesIn(current, `${path}${name}.`)
        return changes.length === 0 ? [] : [[name, Object.fromEntries(changes)]]
      }
      const text = values.get(path + name)
      return text === undefined ? [] : [[name, parseValue(path + name, current, text)]]
    })
  return Object.fromEntries(changesIn(defaults, ''))
}

/**
 * The values of settings such as `entry-fee=2.5`, by the name of the rule.
 *
 * @throws {UsageError} If a setting names no rule, has no value, or occurs twice.
 */
export function readSettings(
  settings: readonly string[],
  rules: readonly string[],
  example: string,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const setting of settings) {
    const [, rule = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(setting) ?? []
    if (!rules.includes(rule)) throw noRule(rule, rules)
    if (value === undefined)
      throw new UsageError(`"${rule}" has no value: write RULE=VALUE, such as ${example}`)
    if (values.has(rule)) throw new UsageError(`${rule} is set twice: set each rule once`)
    values.set(rule, value)
  }
  return values
}

type Leaf = boolean | number | string

/** The paths of all rules, such as `coin.tickMicros`. */
export function pathsOf(rules: Rules, path = ''): readonly string[] {
  return Object.entries(rules).flatMap(([name, value]) =>
    typeof value === 'object' ? pathsOf(value, `${path}${name}.`) : [path + name],
  )
}

/** Whether the rule is a duration, in µs. */
export function isDuration(path: string): boolean {
  return /micros(Max)?$/i.test(path)
}

function parseValue(path: string, current: Leaf, text: string) {
  const [value, wanted] = readValue(path, current, text)
  if (value !== undefined) return value
  throw new UsageError(`${path}=${text}: the value must be ${wanted}`)
}

/** The value, undefined if the text has none, and a description of the values that the rule takes. */
function readValue(path: string, current: Leaf, text: string) {
  if (typeof current === 'boolean') return [{ true: true, false: false }[text], 'true or false']
  if (typeof current === 'number')
    return isDuration(path)
      ? [parseDuration(text), 'a duration such as 90d, 12h, 20s or 300ms']
      : [/^\d{1,15}$/.test(text) ? Number(text) : undefined, 'a whole number']
  if (!/^\d+\.\d{10}$/.test(String(current))) return [text, 'a text']
  const amount = readAmount(text)
  return [
    amount === undefined ? undefined : formatAmount(amount),
    'an amount with at most 10 decimals, such as 2.5',
  ]
}

/** The value of a rule at a path; undefined: it is not set. */
export function ruleAt(rules: Rules, path: string): Leaf | undefined {
  const value = path
    .split('.')
    .reduce<Leaf | Rules | undefined>(
      (group, name) => (typeof group === 'object' ? group[name] : undefined),
      rules,
    )
  return typeof value === 'object' ? undefined : value
}

/** The same rules without the one at the path. */
export function withoutRule(rules: Rules, path: string): Rules {
  const [first = '', ...rest] = path.split('.')
  const entries = Object.entries(rules).flatMap(([name, value]): [string, Leaf | Rules][] => {
    if (name !== first) return [[name, value]]
    return typeof value === 'object' ? [[name, withoutRule(value, rest.join('.'))]] : []
  })
  return Object.fromEntries(entries)
}

function noRule(path: string, rules: readonly string[]): UsageError {
  const hint = didYouMean(path, rules) || `. The rules are ${rules.join(', ')}`
  return new UsageError(`unknown rule ${JSON.stringify(path)}${hint}`)
}
