/**
 * Charts over time, for the chaos report, which is a file, and for the console, which redraws every second. Pure: a chart is a
 * tree of shapes. The report writes it as text (`toSvg`), the console as React elements. Widths are percentages of the
 * available width, heights are pixels.
 */

/** An SVG element, with attributes as React names them. */
export type Shape = readonly [
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: (Shape | string)[],
]

/** Times by any clock, as long as it is the same one. */
export type TimeWindow = { readonly fromMs: number; readonly toMs: number }

/** The width of a curve, which is stretched to the available width. */
const CURVE_WIDTH = 1000
const TICKS_MAX = 6
const TICK_STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600]
const LABEL_HEIGHT = 18

/** The position of a time, from 0 to 100. */
function positionOf(ms: number, { fromMs, toMs }: TimeWindow): number {
  return (100 * (Math.max(fromMs, Math.min(toMs, ms)) - fromMs)) / (toMs - fromMs)
}

function percent(position: number): string {
  return `${position.toFixed(2)}%`
}

/** A time range. Its title is a tooltip. */
export function bar(
  window: TimeWindow,
  parts: TimeWindow & {
    readonly y: number
    readonly height: number
    readonly className: string
    readonly title?: string
  },
): Shape {
  const { y, height, className, title } = parts
  const [from, to] = [positionOf(parts.fromMs, window), positionOf(parts.toMs, window)]
  const place = { className, x: percent(from), y: y.toFixed(1), height: height.toFixed(1) }
  const name: readonly Shape[] = title === undefined ? [] : [['title', {}, title]]
  return ['rect', { ...place, width: percent(to - from) }, ...name]
}

type Label = {
  readonly atMs: number
  readonly y: number
  readonly text: string
  readonly className?: string
}

/** Text to the right of its time, or to the left in the second half. */
export function label(window: TimeWindow, parts: Label): Shape {
  const { atMs, y, text, className = 'axis' } = parts
  const place = positionOf(atMs, window)
  const [textAnchor, dx] = place > 50 ? ['end', -4] : ['start', 4]
  return ['text', { className, x: percent(place), dx, y, textAnchor }, text]
}

/** Points, connected where `joined` returns true, otherwise as dots. */
export function curve(
  window: TimeWindow,
  parts: {
    readonly points: readonly (readonly [atMs: number, y: number])[]
    readonly height: number
    readonly className: string
    readonly joined?: (beforeMs: number, atMs: number) => boolean
  },
): Shape {
  const { points, height, className, joined = () => false } = parts
  const steps = points.map(([atMs, y], index) => {
    const x = ((positionOf(atMs, window) * CURVE_WIDTH) / 100).toFixed(1)
    const before = points[index - 1]?.[0]
    return before !== undefined && joined(before, atMs)
      ? `L${x} ${y.toFixed(1)}`
      : `M${x} ${y.toFixed(1)}h0`
  })
  const box = { width: '100%', height, viewBox: `0 0 ${CURVE_WIDTH} ${height}` }
  const stretched = { ...box, preserveAspectRatio: 'none' }
  const path = { className, d: steps.join(''), vectorEffect: 'non-scaling-stroke' }
  return ['svg', stretched, ['path', path]]
}

/** A chart with names at the left, a line for each name if it is a scale, and times below. */
export function chart(parts: {
  readonly title: string
  readonly window: TimeWindow
  readonly height: number
  /** Height of the shapes below the times. */
  readonly below?: number
  readonly names: readonly { readonly y: number; readonly text: string }[]
  readonly isScale?: boolean
  readonly ticks: readonly { readonly atMs: number; readonly text: string }[]
  readonly shapes: readonly Shape[]
}): Shape {
  const { title, window, height, below = 0, names, ticks } = parts
  const lines = parts.isScale ? names : []
  const wholeHeight = height + LABEL_HEIGHT + below
  return [
    'svg',
    { className: 'timeline', height: wholeHeight, role: 'img', 'aria-label': title },
    ...lines.map(({ y }): Shape => ['line', { className: 'grid', x2: '100%', y1: y, y2: y }]),
    ...ticks.map(({ atMs }): Shape => {
      const x = percent(positionOf(atMs, window))
      return ['line', { className: 'grid', x1: x, x2: x, y2: height }]
    }),
    ...parts.shapes,
    ...names.map(({ y, text }): Shape => {
      return ['text', { className: 'axis', dx: -6, y: y + 4, textAnchor: 'end' }, text]
    }),
    ...ticks.map(({ atMs, text }): Shape => {
      const place = positionOf(atMs, window)
      const textAnchor = place < 6 ? 'start' : place > 94 ? 'end' : 'middle'
      return ['text', { className: 'axis', x: percent(place), y: height + 14, textAnchor }, text]
    }),
  ]
}

/** Round times since the start of a window, few enough for a phone. */
export function roundTimes({ fromMs, toMs }: TimeWindow): number[] {
  const wholeS = (toMs - fromMs) / 1000
  const stepS = TICK_STEPS_S.find((step) => wholeS / step <= TICKS_MAX) ?? wholeS
  const count = Math.floor(wholeS / stepS) + 1
  return Array.from({ length: count }, (_, index) => fromMs + index * stepS * 1000)
}

/** The chart as text. */
export function toSvg([tag, attributes, ...children]: Shape): string {
  const written = Object.entries(attributes).map(
    ([name, value]) => ` ${nameInSvg(name)}="${escapeHtml(String(value))}"`,
  )
  const inside = children.map((child) =>
    typeof child === 'string' ? escapeHtml(child) : toSvg(child),
  )
  return `<${tag}${written.join('')}>${inside.join('')}</${tag}>`
}

function nameInSvg(name: string): string {
  if (name === 'className') return 'class'
  const isKept = ['viewBox', 'preserveAspectRatio'].includes(name)
  return isKept ? name : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Safe in text and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
}
