/** How a schema describes the meaning of its members, in addition to their form. */
import { type TProperties, type TSchema, Type } from 'typebox'

/** The key of a description that holds for one member only; `toSchema` puts it into the document. */
export const ABOUT = '~about'

/** Other keywords for the document alone, such as rules that the operation enforces with a code of its own. */
type About = Readonly<Record<string, unknown>>

/** Marks a member that decodes without it, to be refused with a code of its own: in the document it is required. */
export const NEEDED = '~needed'

/** An object that the documents list under a name of its own. */
export function component<T extends TProperties>(title: string, description: string, members: T) {
  return Type.Object(members, { title, description })
}

/** An object within another one. */
export function part<T extends TProperties>(description: string, members: T) {
  return Type.Object(members, { description })
}

/** The schema as a member with a meaning of its own; a component's own description is left alone. */
export function about<T extends TSchema>(schema: T, description: string, more: About = {}): T {
  return extended(schema, { [ABOUT]: { description, ...more } })
}

/** A copy with more keywords. A spread would lose the marks that TypeBox hides from enumeration. */
export function extended<T extends TSchema>(schema: T, keywords: object): T {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))
  return Object.assign(copy, keywords) as T
}

/** The schema with constraints, and a description of its own. */
export function bounded<T extends TSchema>(schema: T, description: string, constraints: object): T {
  return extended(schema, { ...constraints, description })
}

/** A text of this form. */
export function formed(pattern: string, description: string, limits: object = {}) {
  return Type.String({ pattern, ...limits, description })
}

/** A required member; null: no value. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** A member of a request that may be left out, or null. */
export function optional<T extends TSchema>(schema: T, description: string) {
  return Type.Optional(about(nullable(schema), description))
}

/** The same with a meaning of its own. */
export function orNull<T extends TSchema>(schema: T, description: string) {
  return about(nullable(schema), description)
}

export const nullableText = (description: string) => orNull(Type.String(), description)

/** A member that may be left out. */
export function omittable<T extends TSchema>(schema: T, description: string) {
  return Type.Optional(about(schema, description))
}

export const string = (description: string) => Type.String({ description })
export const boolean = (description: string) => Type.Boolean({ description })
export const integer = (minimum: number, description: string, limits: object = {}) =>
  Type.Integer({ minimum, ...limits, description })

export function array<Item extends TSchema>(description: string, item: Item, limits: object = {}) {
  return Type.Array(item, { ...limits, description })
}

/** One of several forms. */
export function either<const Forms extends TSchema[]>(description: string, forms: [...Forms]) {
  return Type.Union(forms, { description })
}

/** An array of objects. */
export function rows<T extends TProperties>(description: string, members: T) {
  return array(description, Type.Object(members))
}

/** Values by names that are no part of the schema. */
export function record<Value extends TSchema>(description: string, value: Value) {
  return Type.Record(Type.String(), value, { description })
}
