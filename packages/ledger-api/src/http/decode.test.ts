import { LedgerDecodeError } from '@quorumscan/errors'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { compileDecoder } from './decode.ts'

const item = Type.Object({
  name: Type.String({ format: 'identifier', pattern: '^[^:]+:[^:]+:[^:]+$' }),
})
const schema = Type.Object({
  offset: Type.Integer({ format: 'int64' }),
  small: Type.Optional(Type.Integer({ format: 'int32', default: 0 })),
  end: Type.Optional(Type.Integer({ format: 'int64' })),
  flag: Type.Optional(Type.Boolean({ default: false })),
  items: Type.Optional(Type.Array(item, { default: [] })),
  byKey: Type.Optional(Type.Record(Type.String(), item, { default: {} })),
  shape: Type.Optional(Type.Enum(['A', 'B'])),
  kind: Type.Optional(
    Type.Union(
      [Type.Object({ Empty: Type.Object({}) }), Type.Object({ One: Type.Object({ value: item }) })],
      { default: { Empty: {} } },
    ),
  ),
  anything: Type.Optional(Type.Unknown()),
})
const decode = compileDecoder(schema, 'body')

describe('lenient decoding (§L1.1)', () => {
  it('a missing member gets its default, an unknown one is ignored', () => {
    expect(decode({ offset: 1, unknown: { deep: [] } })).toEqual({
      offset: 1,
      small: 0,
      flag: false,
      items: [],
      byKey: {},
      kind: { Empty: {} },
    })
  })

  it('an optional member that is null counts as missing', () => {
    expect(decode({ offset: 1, end: null, shape: null })).not.toHaveProperty('end')
    const nothing = { small: null, flag: null, items: null, byKey: null, kind: null }
    expect(decode({ offset: 1, ...nothing, anything: null })).toEqual(decode({ offset: 1 }))
  })

  it.each([
    [7, 7],
    ['7', 7],
    ['-7', -7],
    ['+7', 7],
    [`-${'0'.repeat(50)}7`, -7],
    ['-0', 0],
    [1e3, 1000],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740993', 9007199254740993n],
    [9007199254740993n, 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
  ])('int64 %s is %s', (offset, want) => {
    expect(decode({ offset })).toMatchObject({ offset: want })
  })

  it.each([
    [null, 'body: must be an object'],
    [[], 'body: must be an object'],
    ['{}', 'body: must be an object'],
    [{}, 'body.offset: is missing'],
    [{ offset: null }, 'body.offset: must be an integer'],
    [{ offset: 1.5 }, 'body.offset: must be an integer'],
    [{ offset: '1e3' }, 'body.offset: must be an integer'],
    [{ offset: '' }, 'body.offset: must be an integer'],
    [{ offset: 1e300 }, 'body.offset: must be within int64'],
    [{ offset: 9223372036854775808n }, 'body.offset: must be within int64'],
    [{ offset: 1, items: [{ name: 9007199254740993n }] }, 'must be a string'],
    [{ offset: '9223372036854775808' }, 'body.offset: must be within int64'],
    [{ offset: '9'.repeat(40) }, 'body.offset: must be within int64'],
    [{ offset: '9'.repeat(41) }, 'body.offset: must be within int64'],
    [{ offset: `${'0'.repeat(1_000_000)}x` }, 'body.offset: must be an integer'],
    [{ offset: 1, small: 2147483648 }, 'body.small: must be within int32'],
    [{ offset: 1, flag: 'true' }, 'body.flag: must be a boolean'],
    [{ offset: 1, items: {} }, 'body.items: must be an array'],
    [{ offset: 1, items: [{ name: 'a:b:c' }, {}] }, 'body.items[1].name: is missing'],
    [{ offset: 1, items: [{ name: 'a:b' }] }, 'body.items[0].name: must be of the form'],
    [{ offset: 1, byKey: { k: { name: 7 } } }, 'body.byKey.k.name: must be a string'],
    [{ offset: 1, shape: 'C' }, 'body.shape: must be one of A, B'],
    [{ offset: 1, kind: {} }, 'body.kind: must be an object with exactly one of Empty, One'],
    [{ offset: 1, kind: { Two: {} } }, 'body.kind: must be an object with exactly one of'],
    [{ offset: 1, kind: { Empty: {}, One: {} } }, 'body.kind: must be an object with exactly one'],
    [{ offset: 1, kind: { One: { value: null } } }, 'body.kind.One.value: must be an object'],
  ])('%o does not decode: %s', (body, message) => {
    expect(() => decode(body)).toThrow(LedgerDecodeError)
    expect(() => decode(body)).toThrow(message)
  })
})
