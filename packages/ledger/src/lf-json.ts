/**
 * Contract values as the ledger interface shows them (docs/upstream.md §L4.3): record members in
 * the order of their declaration, without trailing `None`, times without trailing zeros. The input is the
 * canonical form of `Lf.encode`. `readValueInput` of `value-input.ts` is the inverse.
 */
import { assert } from '@quorumscan/base'
import type { DamlValue } from '@quorumscan/model'
import type { Json } from '@quorumscan/verifier'

type Encode = (value: DamlValue) => DamlValue
type Members = readonly (readonly [name: string, type: Json])[]

const same: Encode = (value) => value
const encoders = new Map<Json, Encode>()

/** @param type - The descriptor of the value's type (`Lf.descriptor`). */
export function toLfJson(type: Json, value: DamlValue): DamlValue {
  let encode = encoders.get(type)
  if (encode === undefined) {
    encode = compile(type)
    // Descriptors exist as long as the process: one encoder for each.
    encoders.set(type, encode)
  }
  return encode(value)
}

function compile(type: Json): Encode {
  if (type === 'Time') return (value) => trimTime(String(value))
  if (typeof type === 'string') return same
  assert(typeof type === 'object' && type !== null && !Array.isArray(type), 'a type is described')
  if ('list' in type) return ofList(compile(type['list'] as Json))
  if ('optional' in type) return ofOptional(compile(type['optional'] as Json))
  if ('fields' in type) return ofRecord(type['fields'] as Members)
  if ('cases' in type) return ofVariant(type['cases'] as Members)
  assert('enum' in type, 'there is no other kind of type')
  return same
}

/** `…:05.120000Z` as `…:05.12Z`, and without a fraction where it is zero. */
function trimTime(text: string): string {
  return text.replace(/\.?0*Z$/, 'Z')
}

function ofList(of: Encode): Encode {
  return (value) => (of === same ? value : (value as readonly DamlValue[]).map(of))
}

function ofOptional(of: Encode): Encode {
  return (value) => (value === null ? null : of(value))
}

function ofRecord(fields: Members): Encode {
  const members = fields.map(([name, type]) => ({
    name,
    encode: compile(type),
    isOptional: typeof type === 'object' && type !== null && 'optional' in type,
  }))
  return (value) => {
    const record = value as Readonly<Record<string, DamlValue>>
    let count = members.length
    while (count > 0) {
      const last = members[count - 1]
      if (last === undefined || !last.isOptional || record[last.name] !== null) break
      count--
    }
    const shown: Record<string, DamlValue> = {}
    for (const { name, encode } of members.slice(0, count))
      shown[name] = encode(record[name] ?? null)
    return shown
  }
}

function ofVariant(cases: Members): Encode {
  const byTag = new Map(cases.map(([tag, type]) => [tag, compile(type)]))
  return (value) => {
    const { tag, value: content } = value as { readonly tag: string; readonly value: DamlValue }
    const encode = byTag.get(tag)
    assert(encode !== undefined, `${tag} is a constructor of its variant`)
    return { tag, value: encode(content) }
  }
}
