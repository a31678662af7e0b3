/** Validators of declared schemas. */
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

const validators = new WeakMap<TSchema, Validator>()

/** The validator of a schema. It is compiled at first use, because a process uses few of the schemas that it declares. */
export function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const compiled = Compile(schema)
  validators.set(schema, compiled)
  return compiled
}
