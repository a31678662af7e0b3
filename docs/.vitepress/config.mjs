import { sidebar } from '../site/contents.mjs'
import { mermaidDiagrams } from '../site/diagrams.mjs'
import { slugOf } from '../site/markdown.mjs'

/** Renders empty header cells as plain cells. */
function cornersOfTables(markdown) {
  markdown.core.ruler.push('corners-of-tables', ({ tokens }) => {
    tokens.forEach((token, index) => {
      if (token.type !== 'th_open' || tokens[index + 1].content !== '') return
      token.tag = 'td'
      tokens[index + 2].tag = 'td'
    })
  })
}

/** Code that is indented scrolls by keyboard, as fenced code does. */
function indentedCode(markdown) {
  const block = markdown.renderer.rules.code_block
  markdown.renderer.rules.code_block = (...args) =>
    block(...args).replace('<pre', '<pre tabindex="0"')
}

export default {
  title: 'quorumscan',
  description: 'A name service for wallets that proves its answers.',
  lang: 'en',
  srcDir: '.vitepress/pages',
  cleanUrls: false,
  ignoreDeadLinks: false,
  markdown: {
    anchor: { slugify: slugOf },
    // Braces in a path are part of it, and not attributes.
    attrs: { disable: true },
    config(markdown) {
      markdown.use(mermaidDiagrams).use(cornersOfTables).use(indentedCode)
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    sidebar,
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Wallets', link: '/guides/wallet' },
      { text: 'Operators', link: '/guides/operator' },
      { text: 'Reference', link: '/reference/validator' },
    ],
    outline: [2, 3],
    search: { provider: 'local' },
  },
}
