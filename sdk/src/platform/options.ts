/**
 * Checks of the options of a client, when it is made, and of a call: for programs in JavaScript and JSON configuration. An unknown name
 * and a value out of its set are errors, so that a misspelt safety option never has the effect of a weaker one.
 */
import { invalidArgument } from '../errors.ts'

/** @returns The rule that the value breaks; null: none. */
export type OptionCheck = (value: unknown) => string | null

const rule = (text: string, isValid: (value: unknown) => boolean): OptionCheck => {
  return (value) => (isValid(value) ? null : text)
}

/** Any value: the client checks it itself, or ignores it. */
export const anything: OptionCheck = () => null
export const isText = rule('must be a string', (value) => typeof value === 'string')
export const isArray = rule('must be an array', Array.isArray)
export const isFunction = rule('must be a function', (value) => typeof value === 'function')
export const isBoolean = rule('must be true or false', (value) => typeof value === 'boolean')
export const isMs = rule(
  'must be a number of milliseconds, 0 or more',
  (value) => typeof value === 'number' && value >= 0,
)
export const isObject = rule(
  'must be an object',
  (value) => typeof value === 'object' && value !== null,
)

export const isSignal = rule(
  'must be an AbortSignal',
  (value) => typeof (value as AbortSignal | null)?.throwIfAborted === 'function',
)

/** An object of the application with these functions. */
export function isPort(...methods: readonly string[]): OptionCheck {
  return rule(`must have the functions ${methods.join(', ')}`, (value) => {
    const port = (value ?? {}) as Readonly<Record<string, unknown>>
    return methods.every((method) => typeof port[method] === 'function')
  })
}
export const isClock = isPort('nowMicros', 'monotonicMs', 'delay')

export function isWhole(min: number, max = Number.MAX_SAFE_INTEGER): OptionCheck {
  const upTo = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`
  return rule(
    `must be a whole number, ${upTo}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
  )
}

export function isOneOf(values: readonly unknown[]): OptionCheck {
  return rule(`must be one of ${values.map(String).join(', ')}`, (value) => values.includes(value))
}

export function isOr(check: OptionCheck, ...values: readonly unknown[]): OptionCheck {
  return (value) => (values.includes(value) ? null : check(value))
}

/** An object with these members alone. */
export function onlyWith(checks: Readonly<Record<string, OptionCheck>>): OptionCheck {
  return (value) => {
    const broken = isObject(value)
    if (broken !== null) return broken
    for (const [name, member] of Object.entries(value as object)) {
      if (!Object.hasOwn(checks, name)) return `has no \`${name}\`: it has ${namesOf(checks)}`
      const rule = member === undefined ? null : checks[name]?.(member)
      if (rule != null) return `has a wrong \`${name}\`: it ${rule}`
    }
    return null
  }
}

function namesOf(checks: object): string {
  return Object.keys(checks).join(', ')
}

/** `weak`, `strong`, `all`, or a number of members; the reader knows how many there are. */
export const isThreshold = isOr(
  rule('must be weak, strong, all, or a whole number, 1 or more', (value) => {
    return Number.isSafeInteger(value) && Number(value) >= 1
  }),
  'weak',
  'strong',
  'all',
)

/**
 * Options that are `undefined` have their defaults.
 *
 * @param taker - For messages: `createScan`.
 * @param checks - Of every option: the compiler demands that none is missing.
 * @throws {QuorumscanError} INVALID_ARGUMENT.
 */
export function assertOptions<Options extends object>(
  taker: string,
  options: Options,
  checks: { readonly [Name in keyof Required<Options>]: OptionCheck },
): void {
  if (typeof options !== 'object' || options === null)
    throw invalidArgument(`The options of ${taker} must be an object.`)
  const known = new Map<string, OptionCheck>(Object.entries(checks))
  for (const [name, value] of Object.entries(options)) {
    const check = known.get(name)
    if (check === undefined) {
      const names = [...known.keys()].join(', ')
      throw invalidArgument(`\`${name}\` is no option of ${taker}. It has ${names}.`)
    }
    const broken = value === undefined ? null : check(value)
    if (broken !== null) throw invalidArgument(`The option \`${name}\` of ${taker} ${broken}.`)
  }
}
