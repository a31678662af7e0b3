// Headings, anchors and links of Markdown, as GitHub reads them. The site and test/tidy use the same functions.

const FENCE = /^ *(`{3,}|~{3,})/

/** Maps the lines that are not in a code block; code blocks stay as they are. */
export function mapProse(text, map) {
  let fence = null
  return text
    .split('\n')
    .map((line) => {
      const [, mark] = FENCE.exec(line) ?? []
      if (fence === null && mark !== undefined) fence = mark
      else if (fence !== null && mark?.startsWith(fence)) fence = null
      else if (fence === null) return map(line)
      return line
    })
    .join('\n')
}

/** Maps what is not inline code in a line. */
export function mapText(line, map) {
  return line
    .split(/(`+[^`]*`+)/)
    .map((part, index) => (index % 2 === 1 ? part : map(part)))
    .join('')
}

/** The anchor that GitHub gives a heading; of equal headings the second one ends in `-1`. */
export function slugOf(heading) {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** All anchors of a document. */
export function anchorsOf(text) {
  const counts = new Map()
  const anchors = new Set()
  mapProse(text, (line) => {
    const [, heading] = /^#{1,6} +(.*?)(?: +#+)?$/.exec(line) ?? []
    if (heading !== undefined) {
      const slug = slugOf(heading)
      const count = counts.get(slug) ?? 0
      counts.set(slug, count + 1)
      anchors.add(count === 0 ? slug : `${slug}-${count}`)
    }
    for (const [, id] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
    return line
  })
  return anchors
}

const LINK = /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)([^)]*)\)/g

/** Replaces the links of a document: `replace` gets `{ image, text, target, rest, whole }`. */
export function mapLinks(text, replace) {
  return mapProse(text, (line) => {
    // Code may be a part of the text of a link, so it is put aside while links are looked for.
    const codes = []
    const masked = line.replace(/`+[^`]*`+/g, (code) => `\uE000${codes.push(code) - 1}\uE001`)
    const restore = (part) => part.replace(/\uE000(\d+)\uE001/g, (_, index) => codes[Number(index)])
    return restore(
      masked.replace(LINK, (whole, image, label, target, rest) =>
        replace({ image: image === '!', text: label, target, rest, whole }),
      ),
    )
  })
}

/** Targets of all links and images of a document, those in HTML among them. */
export function linksOf(text) {
  const targets = []
  mapLinks(text, ({ target, whole }) => {
    targets.push(target)
    return whole
  })
  mapProse(text, (line) =>
    mapText(line, (part) => {
      for (const [, target] of part.matchAll(/\b(?:href|src|srcset)="([^"\s]+)"/g))
        targets.push(target)
      return part
    }),
  )
  return targets
}

export const isExternal = (target) => /^[a-z][a-z+.-]*:/i.test(target)
