/** The procedures of the control plane, for tests. */
import { type ZodType, z } from 'zod'
import { appRouter } from '../control/router.ts'

type Kind = 'query' | 'mutation' | 'subscription'

export type ControlProcedure = {
  /** The whole path, e.g. `nodes.kill`. */
  readonly path: string
  readonly kind: Kind
  /** JSON Schema of its input; null where it takes none. */
  readonly input: Readonly<Record<string, unknown>> | null
  /** Whether the procedure is called with this input, rather than the input refused. */
  accepts(input: unknown): boolean
}

/** Every procedure of the control plane. */
export function controlProcedures(): readonly ControlProcedure[] {
  // tRPC stores procedures by their whole paths. Each has at most one input schema, of zod.
  const procedures = appRouter._def.procedures as unknown as Readonly<
    Record<string, { readonly _def: { readonly type: Kind; readonly inputs: readonly ZodType[] } }>
  >
  return Object.entries(procedures).map(([path, { _def: procedure }]) => {
    const [input = null] = procedure.inputs
    const schema = input === null ? null : z.toJSONSchema(input, { io: 'input' })
    const accepts = (value: unknown) => input === null || input.safeParse(value).success
    return { path, kind: procedure.type, input: schema, accepts }
  })
}
