/** Converts wire names (`user_name`) to names in code (`userName`), except in contract payloads. */
import { isParty, type Party } from './party.ts'
import type { ContractId } from './values.ts'

type CamelName<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelName<Tail>>}`
  : Name

type ContractIdName = 'contract_id' | 'contractId' | `${string}_contract_id` | `${string}_cid`
type IdOf<T> = T extends string ? ContractId : T
/** null: the text is not a party. `toCamel` tests its form. */
type PartyOf<T> = T extends string ? Party | null : T

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
            : Name extends 'party'
              ? PartyOf<T[Name]>
              : Camel<T[Name]>
      }
    : T

/**
 * Renames members at every depth, except in `payload` and `details`, whose names are data. A member `party` with a text that
 * is not a party becomes null, so that one row of a list hides no other one.
 */
export function toCamel<T>(value: T): Camel<T> {
  return convert(value, true) as Camel<T> // The same walk as the type's.
}

/** As `toCamel`, of any texts: details of errors, and answers of other software. */
export function renameMembers(value: unknown): unknown {
  return convert(value, false)
}

function convert(value: unknown, hasParties: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => convert(one, hasParties))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isData = name === 'payload' || name === 'details'
      const isInvalid =
        hasParties && name === 'party' && typeof member === 'string' && !isParty(member)
      return [
        name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
        isInvalid ? null : isData ? member : convert(member, hasParties),
      ]
    }),
  )
}
