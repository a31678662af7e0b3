/** The report of a run: one HTML file that needs nothing else, with the numbers behind it. Pure. */
import type { HistoryEvent } from './history.ts'
import type { Summary } from './summary.ts'

const WIDTH = 960
const LANE_HEIGHT = 16
const CHART_HEIGHT = 200
const LEFT = 90
/** Dots that a browser draws without effort. */
const DOTS_MAX = 6000

export function renderReport(history: readonly HistoryEvent[], summary: Summary): string {
  const { verdict, scenario } = summary
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Chaos run ${escapeHtml(scenario.seed)}: ${verdict.verdict}</title>
<style>
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:1060px;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.2rem .6rem;border-bottom:1px solid #8884}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}.wide{overflow-x:auto}.note{opacity:.75;font-size:13px}.valid{color:#1a7f37}.invalid{color:#cf222e}.unknown{color:#9a6700}
code{font-size:13px;overflow-wrap:anywhere}svg{width:100%;height:auto}text{fill:currentColor;font-size:11px}
</style>
<h1>Chaos run <code>${escapeHtml(scenario.seed)}</code>: <span class="${verdict.verdict}">${verdict.verdict}</span></h1>
<p>${escapeHtml(verdict.sentence)}</p>
<p><strong>wrong answers served: ${summary.wrongAnswers}</strong></p>
<p>${scenario.nodes} nodes, budget ${scenario.budget}, ${scenario.durationMs / 1000} s,
${summary.lookups.decided} lookups answered (p50 ${ms(summary.lookups.p50Ms)}, p99 ${ms(summary.lookups.p99Ms)}),
healed in ${ms(summary.healingMs)}.</p>
<h2>Timeline</h2>
${timeline(history)}
<h2>Faults</h2>
<div class="wide"><table><tr><th>node<th>fault<th class=n>from<th class=n>whole again<th class=n>detected<th class=n>recovered<th class=n>caught up<th class=n>answered<th class=n>refused<th class=n>p99</tr>
${summary.faults
  .map(
    (fault) =>
      `<tr><td>${escapeHtml(fault.node)}<td>${escapeHtml(fault.fault)}<td class=n>${seconds(fault.startMs)}<td class=n>${seconds(fault.endMs)}<td class=n>${after(fault.detectionMs)}<td class=n>${after(fault.recoveryMs)}<td class=n>${after(fault.catchUpMs)}<td class=n>${fault.decided}<td class=n>${fault.undecided}<td class=n>${ms(fault.p99Ms)}</tr>`,
  )
  .join('\n')}
</table></div>
<p class="note">Detected: seen as not up, or as saying something else than the quorum, so long after the fault began.
Recovered: up, so long after the fault ended. Caught up: where the others are, so long after that.</p>
<h2>Outcomes</h2>
<table>${Object.entries(summary.lookups.undecidedByCode)
    .map(([code, count]) => `<tr><td>lookups refused: ${escapeHtml(code)}<td class=n>${count}</tr>`)
    .join('')}
${Object.entries(summary.writes)
  .flatMap(([operation, counts]) =>
    Object.entries(counts).map(
      ([outcome, count]) =>
        `<tr><td>${escapeHtml(operation)}: ${escapeHtml(outcome)}<td class=n>${count}</tr>`,
    ),
  )
  .join('')}</table>
<h2>Findings</h2>
${
  verdict.findings.length === 0
    ? '<p>Nothing was found that must not be.</p>'
    : `<ul>${verdict.findings.map(({ rule, sentence }) => `<li>${escapeHtml(rule)}: ${escapeHtml(sentence)}`).join('')}</ul>`
}
<h2>Evidence</h2>
${
  summary.evidence.length === 0
    ? '<p>No node was caught signing two answers to one question.</p>'
    : `<p>Signed statements by which a node contradicts itself, as the scan proxy keeps them (at most 32 pairs of
each node); <code>quorumscan verify</code> checks them offline.</p>
<table><tr><th>node<th class=n>pairs</tr>${summary.evidence
        .map(({ node, pairs }) => `<tr><td>${escapeHtml(node)}<td class=n>${pairs}</tr>`)
        .join('')}</table>`
}
<h2>Replicas</h2>
<table><tr><th>node<th class=n>offset<th>state root</tr>${summary.replicas
    .map(
      ({ node, offset, state }) =>
        `<tr><td>${escapeHtml(node)}<td class=n>${offset ?? ''}<td><code>${state?.stateRoot ?? 'none'}</code></tr>`,
    )
    .join('')}</table>
</html>
`
}

/** Faults as bands, a lane for each node; below, each lookup as a dot at its latency. */
function timeline(history: readonly HistoryEvent[]): string {
  const lookups = history.filter((event) => event.kind === 'lookup')
  const faults = history.filter((event) => event.kind === 'fault')
  const endMs = Math.max(
    1,
    ...lookups.map((event) => event.endMs),
    ...faults.map((event) => event.endMs),
  )
  const latencyMax = Math.max(10, ...lookups.map((event) => event.endMs - event.startMs))
  const nodes = [...new Set(faults.map(({ fault }) => fault.node))].sort()
  const x = (at: number) => (LEFT + (at / endMs) * (WIDTH - LEFT)).toFixed(1)
  const top = nodes.length * LANE_HEIGHT + 10
  // Logarithmic: a healthy lookup takes a few ms and a timeout a thousand times that.
  const y = (latency: number) =>
    (top + CHART_HEIGHT * (1 - Math.log1p(latency) / Math.log1p(latencyMax))).toFixed(1)
  const bands = faults.map(({ fault, startMs, endMs: end }) => {
    const row = nodes.indexOf(fault.node) * LANE_HEIGHT
    const width = Math.max(1, Number(x(end)) - Number(x(startMs))).toFixed(1)
    const kind = fault.kind === 'lie' ? `lie: ${fault.lie}` : fault.kind
    return `<rect x="${x(startMs)}" y="${row}" width="${width}" height="${LANE_HEIGHT - 3}" fill="#d9822b" opacity=".75"><title>${escapeHtml(`${fault.node} ${kind}`)}</title></rect><rect x="${x(startMs)}" y="${top}" width="${width}" height="${CHART_HEIGHT}" fill="#d9822b" opacity=".12"/>`
  })
  const step = Math.max(1, Math.ceil(lookups.length / DOTS_MAX))
  const dots = lookups
    .filter((_, index) => index % step === 0)
    .map(({ startMs, endMs: end, outcome }) => {
      const color = outcome.kind === 'decided' ? '#1a7f37' : '#cf222e'
      return `<circle cx="${x(startMs)}" cy="${y(end - startMs)}" r="1.6" fill="${color}"/>`
    })
  const labels = nodes.map(
    (node, index) => `<text x="0" y="${index * LANE_HEIGHT + 11}">${escapeHtml(node)}</text>`,
  )
  const scale = [1, 10, 100, 1000, 10_000]
    .filter((value) => value <= latencyMax)
    .map((value) => `<text x="0" y="${y(value)}">${value} ms</text>`)
  return `<svg viewBox="0 0 ${WIDTH} ${top + CHART_HEIGHT + 20}" role="img" aria-label="Faults over time, above the latency of each lookup; red ones were refused">
${bands.join('')}${labels.join('')}${scale.join('')}${dots.join('')}
<text x="${LEFT}" y="${top + CHART_HEIGHT + 16}">0 s</text><text x="${WIDTH - 40}" y="${top + CHART_HEIGHT + 16}">${seconds(endMs)}</text></svg>`
}

function ms(value: number | null): string {
  return value === null ? '-' : `${Math.round(value)} ms`
}

/** How long something took. */
function after(value: number | null): string {
  if (value === null) return '-'
  return value < 1000 ? ms(value) : seconds(value)
}

function seconds(valueMs: number): string {
  return `${(valueMs / 1000).toFixed(1)} s`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
}
