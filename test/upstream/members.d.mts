export type Operation = {
  readonly operation: string
  readonly members: readonly { readonly member: string; readonly required: boolean }[]
}
export function operationsOf(document: object): readonly Operation[]
export function operationName(method: string, path: string): string
