// `npm run docs`: writes all pages to .vitepress/pages, and makes a static site of them in .vitepress/dist.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vitepress'
import { pages } from './contents.mjs'
import { asyncApiPage, openApiPage } from './http-pages.mjs'
import { anchorsOf, isExternal, linksOf, mapLinks, mapProse, mapText } from './markdown.mjs'
import { metricsPage } from './metrics-page.mjs'

const docs = fileURLToPath(new URL('..', import.meta.url))
const root = dirname(docs)
const target = join(docs, '.vitepress/pages')
const read = (file) => readFileSync(join(root, file), 'utf8')
const secondsSince = (startedAt) => ((performance.now() - startedAt) / 1000).toFixed(1)

const pageByFile = new Map(pages.flatMap(({ file, page }) => (file ? [[file, page]] : [])))
/** Tags that documents use; all else that looks like one is text. */
const TAG =
  /<(?=[a-zA-Z/!?])(?!\/?(?:a|br|details|img|kbd|p|picture|source|sub|summary|sup)\b|!--|https?:)/g
/** A picture of each theme, as GitHub shows it: by the setting of the browser alone. */
const PICTURE =
  /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img ([^>]*)src="([^"]+)">\s*<\/picture>/g
const IMAGE = /\.(?:png|svg|webp)$/

const startedAt = performance.now()
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
await makeSdkReference()
console.log(`The reference of the SDK is made (${secondsSince(startedAt)} s).`)
for (const item of pages) {
  if (item.anchor !== undefined || item.make === 'sdk') continue
  const text = item.make === undefined ? ofRepository(item) : made(item)
  writePage(item.page, text)
}
checkAnchors()
await build(docs)
console.log(`The site is in docs/.vitepress/dist (${secondsSince(startedAt)} s).`)

/** TypeDoc writes Markdown, so that it is searched and checked like all other pages. */
async function makeSdkReference() {
  const out = join(target, 'reference/sdk')
  const typedoc = spawn(
    'npm',
    ['run', '--silent', 'docs', '--', '--out', out, '--logLevel', 'Warn'],
    {
      cwd: join(root, 'sdk'),
      stdio: 'inherit',
    },
  )
  const [status] = await once(typedoc, 'close')
  if (status !== 0) throw new Error('TypeDoc failed: see above.')
  // TypeDoc names a module by its file, and the first one as the page of all modules.
  for (const file of readdirSync(out)) {
    const module = file.replace(/(-1)?\.md$/, '')
    const name = module === 'index' ? '@quorumscan/sdk' : `@quorumscan/sdk/${module}`
    const text = readFileSync(join(out, file), 'utf8')
      .replace(/^# .*$/m, file === 'index.md' ? '# SDK' : `# ${name}`)
      .replaceAll('](index-1.md', '](main.md')
      .replaceAll(
        /^- \[(\w+)\]/gm,
        (_, entry) => `- [@quorumscan/sdk${entry === 'index' ? '' : `/${entry}`}]`,
      )
    rmSync(join(out, file))
    writeFileSync(join(out, file === 'index-1.md' ? 'main.md' : file), text)
  }
}

function made({ make }) {
  if (make === 'metrics') return metricsPage(root)
  const document = JSON.parse(read(`packages/api/generated/${make}.json`))
  return make === 'asyncapi' ? asyncApiPage(document) : openApiPage(document)
}

/** A document of the repository: links lead to pages of the site, and files without a page are named. */
function ofRepository({ file, page }) {
  const resolve = (link) => posix.normalize(posix.join(posix.dirname(file), link))
  const fromPage = (path) => {
    const relative = posix.relative(posix.dirname(page), path)
    return relative.startsWith('.') ? relative : `./${relative}`
  }
  const asset = (link) => {
    const from = resolve(link)
    const to = join(target, 'assets', from)
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(join(root, from), to)
    return fromPage(`assets/${from}`)
  }
  const linked = mapLinks(read(file), ({ image, text, target: link, rest, whole }) => {
    if (isExternal(link) || link.startsWith('#') || link === '') return whole
    const [path, hash] = link.split('#')
    const from = resolve(path)
    if (image || IMAGE.test(path)) return `${image ? '!' : ''}[${text}](${asset(path)}${rest})`
    const to = pageByFile.get(from) ?? pageByFile.get(posix.join(from, 'README.md'))
    if (to !== undefined) return `[${text}](${fromPage(to)}${hash === undefined ? '' : `#${hash}`})`
    if (!existsSync(join(root, from)))
      throw new Error(`${file} links to ${link}, which does not exist.`)
    return text.includes(posix.basename(from)) ? text : `${text} (\`${from}\`)`
  })
  // The reader of the site chooses the theme.
  const themed = linked.replace(
    PICTURE,
    '<img class="of-dark" $2src="$1">\n<img class="of-light" $2src="$3">',
  )
  return mapProse(themed, (line) =>
    mapText(line, (part) =>
      part.replace(/\b(src|srcset)="([^":]+)"/g, (_, name, link) => `${name}="${asset(link)}"`),
    ),
  )
}

/** Vue reads a page as a template: what looks like one of its expressions, or like a tag, is text. */
function writePage(page, text) {
  // A page without headings of the second level, such as one of decisions, must not skip it.
  const levels = /^## /m.test(text) ? text : mapProse(text, (line) => line.replace(/^### /, '## '))
  const safe = mapProse(levels, (line) =>
    mapText(line, (part) => part.replace(TAG, '&lt;').replaceAll('{{', '&#123;&#123;')),
  )
  const path = join(target, page)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, safe)
}

/** VitePress checks that pages exist, and not what anchors they have. */
function checkAnchors() {
  const listed = pages.filter(({ make }) => make !== 'sdk').map(({ page }) => page)
  const textOf = new Map(
    [...new Set(listed)].map((page) => [page, readFileSync(join(target, page), 'utf8')]),
  )
  const anchors = new Map([...textOf].map(([page, text]) => [page, anchorsOf(text)]))
  const dead = [...textOf].flatMap(([page, text]) =>
    linksOf(text)
      .filter((link) => !isExternal(link) && link.includes('#'))
      .filter((link) => {
        const [path, hash] = link.split('#')
        const to = path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path))
        return anchors.has(to) && !anchors.get(to).has(hash)
      })
      .map((link) => `${page}: ${link}`),
  )
  for (const { page, anchor } of pages)
    if (anchor !== undefined && !anchors.get(page).has(anchor))
      dead.push(`sidebar: ${page}#${anchor}`)
  if (dead.length > 0) throw new Error(`Links to anchors that do not exist:\n${dead.join('\n')}`)
}
