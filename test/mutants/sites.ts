/**
 * The places of a source file that can be mutated, with the operators of Stryker that nearly always compile:
 * comparisons, logic, conditions, negations, numbers, booleans, removed calls, and defaults.
 */
import { parseSync } from 'oxc-parser'
import type { Mutant } from './mutant.ts'

export type Site = Omit<Mutant, 'file'> & {
  readonly operator: string
  /** Counted from 1. */
  readonly line: number
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & {
  readonly [member: string]: unknown
}
type Edit = Omit<Site, 'line'>

const COMPARISONS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
}
const LOGIC: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' }
const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*' }

/** All sites of a file of TypeScript, in the order of the text. */
export function sitesOf(code: string): readonly Site[] {
  const edits: Edit[] = []
  const visit = (node: Node, parent: Node | null): void => {
    // Types have no effect.
    if (node.type.startsWith('TS') && !hasExpression(node)) return
    edits.push(...editsOf(node, parent, code))
    for (const child of childrenOf(node)) visit(child, node)
  }
  visit(parseSync('source.ts', code).program as unknown as Node, null)
  return edits
    .map((edit) => ({ ...edit, line: code.slice(0, edit.start).split('\n').length }))
    .sort((a, b) => a.start - b.start)
}

/** An expression with a type (`x as T`, `x!`, `x satisfies T`). */
function hasExpression({ type }: Node): boolean {
  return ['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'].includes(type)
}

function* childrenOf(node: Node): Generator<Node> {
  for (const [name, value] of Object.entries(node)) {
    if (name === 'typeAnnotation' || name === 'typeArguments' || name === 'typeParameters') continue
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) yield one
  }
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    typeof value.type === 'string' &&
    'start' in value
  )
}

function editsOf(node: Node, parent: Node | null, code: string): readonly Edit[] {
  const whole = { start: node.start, end: node.end }
  switch (node.type) {
    case 'BinaryExpression':
      return [
        ...operatorEdits(node, code, COMPARISONS, 'comparison'),
        ...(isText(node['left']) || isText(node['right'])
          ? []
          : operatorEdits(node, code, ARITHMETIC, 'arithmetic')),
      ]
    case 'LogicalExpression': {
      const edits = operatorEdits(node, code, LOGIC, 'logic')
      if (node['operator'] !== '??' || !isNode(node['left'])) return edits
      return [{ ...whole, operator: 'default', text: textOf(node['left'], code) }]
    }
    case 'UnaryExpression':
      return node['operator'] === '!' && isNode(node['argument'])
        ? [{ ...whole, operator: 'negation', text: textOf(node['argument'], code) }]
        : []
    case 'IfStatement':
    case 'ConditionalExpression': {
      const { test } = node
      if (!isNode(test)) return []
      const { start, end } = test
      return ['true', 'false'].map((text) => ({ start, end, operator: 'condition', text }))
    }
    case 'Literal':
      return literalEdits(node, parent, code)
    case 'ExpressionStatement': {
      const { expression } = node
      // A directive is no call.
      if (!isNode(expression) || !isCall(expression)) return []
      return [{ ...whole, operator: 'removed call', text: ';' }]
    }
    default:
      return []
  }
}

function operatorEdits(
  node: Node,
  code: string,
  table: Readonly<Record<string, string>>,
  operator: string,
): readonly Edit[] {
  const { left, right } = node
  const found = String(node['operator'])
  const other = table[found]
  if (other === undefined || !isNode(left) || !isNode(right)) return []
  const at = code.slice(left.end, right.start).indexOf(found)
  if (at < 0) return []
  const start = left.end + at
  return [{ start, end: start + found.length, operator, text: other }]
}

function literalEdits(node: Node, parent: Node | null, code: string): readonly Edit[] {
  const { start, end, value } = node
  // Of a key, a path of an import, or a type.
  const isName =
    parent?.type === 'Property' && parent['key'] === node && parent['computed'] !== true
  if (isName || parent?.type.startsWith('Import') || parent?.type.startsWith('Export')) return []
  if (typeof value === 'boolean') return [{ start, end, operator: 'boolean', text: String(!value) }]
  if (typeof value === 'number')
    return [{ start, end, operator: 'number', text: `(${textOf(node, code)} + 1)` }]
  return []
}

function isCall({ type, argument }: Node): boolean {
  if (type === 'AwaitExpression') return isNode(argument) && isCall(argument)
  return type === 'CallExpression'
}

function isText(node: unknown): boolean {
  return isNode(node) && (node.type === 'TemplateLiteral' || typeof node['value'] === 'string')
}

function textOf({ start, end }: Node, code: string): string {
  return code.slice(start, end)
}
