/** Converts wire names (`user_name`) to names in code (`userName`), except in contract payloads. */
import type { ContractId } from './values.ts'

type CamelName<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelName<Tail>>}`
  : Name

type ContractIdName = 'contract_id' | 'contractId' | `${string}_contract_id` | `${string}_cid`
type IdOf<T> = T extends string ? ContractId : T

/** The type with names in code. */
export type Camel<T> = T extends readonly (infer Element)[]
  ? readonly Camel<Element>[]
  : T extends object
    ? {
        readonly [Name in keyof T as Name extends string ? CamelName<Name> : Name]: Name extends
          | 'payload'
          | 'details'
          ? T[Name]
          : Name extends ContractIdName
            ? IdOf<T[Name]>
            : Camel<T[Name]>
      }
    : T

/** Renames members at every depth, except in `payload` and `details`, whose names are data. */
export function toCamel<T>(value: T): Camel<T> {
  return convert(value) as Camel<T> // The same walk as the type's.
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      name === 'payload' || name === 'details' ? member : convert(member),
    ]),
  )
}
