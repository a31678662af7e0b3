/** The rules that a new network starts with: their defaults (D-18), and what its operators set otherwise. */
import { type CometbftOrdering, EVIDENCE_AGE, type Genesis } from '@quorumscan/consensus'
import { NEWEST_RULES } from '@quorumscan/ledger'
import { formatAmount, parseAmount } from '@quorumscan/model'
import { ClusterError } from '../cluster-error.ts'
import { parseDuration } from '../durations.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

type RulesOfAll = Pick<
  Genesis,
  | 'protocolVersion'
  | 'devnet'
  | 'deduplicationMicrosMax'
  | 'activityRetentionMicros'
  | 'names'
  | 'coin'
>
type RulesOfEngines = Required<Omit<CometbftOrdering, 'driver' | 'validators'>>
export type NetworkRules = RulesOfAll & { readonly ordering?: RulesOfEngines }

/** Other values of some rules, e.g. seconds instead of days. */
export type GenesisOverrides = Partial<Omit<RulesOfAll, 'names' | 'coin'>> & {
  readonly names?: Partial<Genesis['names']>
  readonly coin?: Partial<Genesis['coin']>
  readonly ordering?: Partial<Omit<RulesOfEngines, 'timeouts' | 'evidenceAge'>> & {
    readonly timeouts?: Partial<RulesOfEngines['timeouts']>
    readonly evidenceAge?: Partial<RulesOfEngines['evidenceAge']>
  }
}

const RULES_OF_ALL: RulesOfAll = {
  protocolVersion: NEWEST_RULES.version,
  devnet: true,
  deduplicationMicrosMax: DAY,
  activityRetentionMicros: 90 * DAY,
  names: {
    entryFeeUsd: '1.0000000000',
    entryLifetimeMicros: 90 * DAY,
    renewalDurationMicros: 30 * DAY,
    descriptionPrefix: 'ANS entry: ',
    requestLifetimeMicros: DAY,
    openRequestsMax: 16,
  },
  coin: {
    tickMicros: 10 * MINUTE,
    priceUsd: '0.0050000000',
    rewardPerRound: '10.0000000000',
  },
}
/**
 * For engines that are near each other: a block takes a tenth of a second there, and three tenths without a proposal
 * mean that its proposer is away. After a block members wait another tenth: who has just heard that an entry is ordered
 * offers the next one, which else comes a whole block later. An idle network makes a block every three seconds: its
 * time runs up to one such interval behind, and readers ask another node about answers older than twelve.
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

type Rules = { readonly [name: string]: boolean | number | string | Rules }

/** @throws {ClusterError} If the overrides name what is no rule. Whether values are in range is not looked at. */
export function networkRules(driver: string, overrides: GenesisOverrides): NetworkRules {
  const defaults = defaultsOf(driver)
  return override(defaults as Rules, overrides as Rules, '') as unknown as NetworkRules
}

/** The overrides with which members make a network of the same rules as this one. */
export function rulesOf({ ordering, ...genesis }: Genesis): GenesisOverrides {
  const names = Object.keys(RULES_OF_ALL) as readonly (keyof RulesOfAll)[]
  const rules = Object.fromEntries(names.map((name) => [name, genesis[name]]))
  if (ordering.driver === 'redis') return rules
  const { driver: _driver, validators: _validators, ...engines } = ordering
  return { ...rules, ordering: { evidenceAge: EVIDENCE_AGE, ...engines } }
}

function defaultsOf(driver: string): NetworkRules {
  return driver === 'cometbft' ? { ...RULES_OF_ALL, ordering: RULES_OF_ENGINES } : RULES_OF_ALL
}

function override(rules: Rules, changes: Rules, path: string): Rules {
  const changed = Object.entries(changes).map(([name, value]) => {
    const current = ruleAt(rules, name, path)
    if (typeof current !== typeof value || value === null)
      throw new ClusterError(`the rule "${path}${name}" is a ${typeof current}`)
    const isGroup = typeof current === 'object'
    return [name, isGroup ? override(current, value as Rules, `${path}${name}.`) : value]
  })
  return { ...rules, ...Object.fromEntries(changed) }
}

/**
 * The overrides that settings such as `names.entryLifetimeMicros=30d` and `coin.priceUsd=0.01` mean: durations with
 * their unit, amounts with as many digits as they need.
 *
 * @throws {ClusterError} If one names no rule, has no such value, or is there twice.
 */
export function parseSettings(driver: string, settings: readonly string[]): GenesisOverrides {
  const overrides: Record<string, unknown> = {}
  for (const setting of settings) {
    const [, path = setting, text = null] = /^([A-Za-z.]+)=(.*)$/s.exec(setting) ?? []
    let rules: Rules = defaultsOf(driver) as Rules
    let target = overrides
    const names = path.split('.')
    const last = names.pop() ?? ''
    for (const [index, name] of names.entries()) {
      const group = ruleAt(
        rules,
        name,
        names
          .slice(0, index)
          .map((one) => `${one}.`)
          .join(''),
      )
      if (typeof group !== 'object') throw noRule(path)
      rules = group
      target[name] ??= {}
      target = target[name] as Record<string, unknown>
    }
    const current = ruleAt(rules, last, path.slice(0, path.length - last.length))
    if (text === null || typeof current === 'object' || Object.hasOwn(target, last))
      throw new ClusterError(
        `"${setting}" sets nothing: each rule at most once, as in devnet=false`,
      )
    target[last] = parseValue(last, current, text)
  }
  return overrides
}

function parseValue(name: string, current: boolean | number | string, text: string) {
  const value =
    typeof current === 'boolean'
      ? { true: true, false: false }[text]
      : typeof current === 'number'
        ? parseNumber(name, text)
        : /^\d+\.\d{10}$/.test(current)
          ? parseDecimal(text)
          : text
  if (value === undefined)
    throw new ClusterError(`${JSON.stringify(text)} is no value of ${name}, as ${current} is`)
  return value
}

function parseNumber(name: string, text: string): number | undefined {
  if (/micros(Max)?$/i.test(name)) return parseDuration(text)
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function parseDecimal(text: string): string | undefined {
  const amount = parseAmount(text)
  return amount === undefined ? undefined : formatAmount(amount)
}

function ruleAt(rules: Rules, name: string, path: string): Rules[string] {
  const value = Object.hasOwn(rules, name) ? rules[name] : undefined
  if (value === undefined) throw noRule(`${path}${name}`)
  return value
}

function noRule(path: string): ClusterError {
  return new ClusterError(`the rules of a network have no ${JSON.stringify(path)}`)
}
