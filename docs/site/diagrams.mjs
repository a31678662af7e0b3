// Mermaid diagrams as SVG, drawn while the site is built: a page needs no script for them.
import { renderMermaidSVG } from 'beautiful-mermaid'

/** Colours of the theme, in light and in dark. */
const COLORS = {
  bg: 'var(--vp-c-bg)',
  fg: 'var(--vp-c-text-1)',
  line: 'var(--vp-c-text-2)',
  accent: 'var(--vp-c-brand-1)',
  muted: 'var(--vp-c-text-2)',
  surface: 'var(--vp-c-bg-soft)',
  border: 'var(--vp-c-text-3)',
  transparent: true,
}

const escaped = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')

/** A plugin of markdown-it. */
export function mermaidDiagrams(markdown) {
  const fence = markdown.renderer.rules.fence
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const token = tokens[index]
    if (token.info.trim() !== 'mermaid') return fence(tokens, index, ...rest)
    // The library names a font of another server; the page has its own.
    const source = token.content.replace(/^ *accTitle:.*\n/gm, '')
    const svg = renderMermaidSVG(source, {
      ...COLORS,
      font: 'inherit',
      padding: 8,
    }).replaceAll(/@import url\([^)]*\);?/g, '')
    const title = /^ *accTitle: *(.*)$/m.exec(token.content)?.[1] ?? 'Diagram'
    // Vue refuses a style within a template, so the picture is a value of it.
    return `<div class="diagram" role="img" aria-label="${escaped(title)}" tabindex="0" v-html="${escaped(JSON.stringify(svg))}"></div>\n`
  }
}
