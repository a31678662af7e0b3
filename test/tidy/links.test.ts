/** The files and anchors of links in all Markdown files exist, as GitHub resolves them. */
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { anchorsOf, isExternal, linksOf } from '@quorumscan/docs/markdown'
import { describe, expect, it } from 'vitest'
import { files, read, root } from '../support/tree.ts'

const documents = files.filter((file) => file.endsWith('.md'))

/** Links of a document whose file or anchor does not exist, as `document -> target`. */
function deadLinks(
  document: string,
  text: string,
  textOf = read,
  exists = (file: string) => existsSync(join(root, file)),
): string[] {
  const isDead = (target: string): boolean => {
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? document : normalize(join(dirname(document), decodeURI(path)))
    if (path !== '' && !exists(file)) return true
    if (anchor === undefined || !file.endsWith('.md')) return false
    return !anchorsOf(file === document ? text : textOf(file)).has(anchor)
  }
  return linksOf(text)
    .filter((target) => !isExternal(target) && isDead(target))
    .map((target) => `${document} -> ${target}`)
}

describe('links between documents', () => {
  const other =
    '# Other\n## A `code` word, and *more*\n## Twice\n## Twice\n```\n# no heading\n```\n'
  const dead = (text: string) =>
    deadLinks(
      'pages/a.md',
      text,
      () => other,
      (file) => file === 'pages/b.md',
    )

  it.each([
    '[x](b.md)',
    '[x](b.md#a-code-word-and-more)',
    '[x](b.md#twice-1)',
    '# Here\n[`x`](#here) and [y](https://example.org/b.md#z)',
    '`[x](none.md)`',
    '```\n[x](none.md)\n```',
  ])('check accepts %j', (text) => {
    expect(dead(text)).toEqual([])
  })

  it.each([
    '[x](none.md)',
    '[`x`](none.md)',
    '![x](none.png)',
    '<img src="none.png">',
    '[x](b.md#no-heading)',
    '[x](b.md#twice-2)',
    '[x](#there)',
  ])('check detects the dead link in %j', (text) => {
    expect(dead(text)).toHaveLength(1)
  })

  it('lead to files and headings that exist', () => {
    expect(documents.length).toBeGreaterThan(50)
    expect(documents.flatMap((document) => deadLinks(document, read(document)))).toEqual([])
  })
})
