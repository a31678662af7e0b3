/** The page of the console of one operator, and its files. It shows what `/console/data` has, and can change nothing. */

export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>quorumscan</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console/page.css">
<script type="module" src="/console/page.js"></script>
</head>
<body>
<header><h1 id="name">quorumscan</h1><p id="state" role="status">reading …</p></header>
<main>
<section aria-labelledby="figures-title"><h2 id="figures-title">Now</h2><dl id="figures"></dl></section>
<section aria-labelledby="checks-title"><h2 id="checks-title">Checks</h2>
<table><thead><tr><th scope="col">state</th><th scope="col">check</th><th scope="col">what was found</th></tr></thead><tbody id="checks"></tbody></table></section>
<section aria-labelledby="advice-title"><h2 id="advice-title">What to do</h2><ul id="advice"></ul></section>
</main>
</body>
</html>
`

export const STYLE = `:root { color-scheme: light dark; --line: #8884; --ok: #1a7f37; --warning: #9a6700; --failed: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --ok: #57ab5a; --warning: #d4a72c; --failed: #ff7b72; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
header { align-items: baseline; display: flex; flex-wrap: wrap; gap: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
header p { margin: 0; }
dl { display: grid; gap: .5rem; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); margin: 0; }
dl div { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .75rem; }
dt { font-size: .85rem; }
dd { font-size: 1.25rem; font-variant-numeric: tabular-nums; margin: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .5rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
td:nth-child(-n+2) { white-space: nowrap; }
.ok { color: var(--ok); } .warning { color: var(--warning); } .failed { color: var(--failed); font-weight: 600; }
`

export const SCRIPT = `const POLL_MS = 5000
const at = (id) => document.getElementById(id)
const make = (tag, text, className = '') => {
  const element = document.createElement(tag)
  element.textContent = text
  element.className = className
  return element
}
const row = (...cells) => {
  const line = document.createElement('tr')
  line.append(...cells)
  return line
}
const say = (text, className) => {
  at('state').textContent = text
  at('state').className = className
}

const show = ({ name, role, at: time, figures, checks }) => {
  document.title = name + ' · quorumscan'
  at('name').textContent = name + ', ' + role
  const worst = ['failed', 'warning', 'ok'].find((state) => checks.some((one) => one.state === state))
  const words = { failed: 'a check failed', warning: 'there are warnings', ok: 'nothing to do' }
  say((words[worst] ?? 'no check was made') + ', at ' + time, worst)
  at('figures').replaceChildren(...figures.map(({ label, value }) => {
    const figure = document.createElement('div')
    figure.append(make('dt', label), make('dd', value))
    return figure
  }))
  at('checks').replaceChildren(...checks.map((one) =>
    row(make('td', one.state, one.state), make('td', one.name), make('td', one.detail))))
  const advice = checks.filter((one) => one.advice !== null).map((one) => make('li', one.name + ': ' + one.advice))
  at('advice').replaceChildren(...(advice.length > 0 ? advice : [make('li', 'Nothing.')]))
}

const read = async () => {
  const token = location.hash.slice(1)
  if (token === '') return say('open it with its token behind a #', 'failed')
  try {
    const answer = await fetch('/console/data', { headers: { authorization: 'Bearer ' + token } })
    if (answer.status === 401) return say('the token is wrong', 'failed')
    if (!answer.ok) throw new Error('status ' + answer.status)
    show(await answer.json())
  } catch (error) {
    say('no answer: what follows is old (' + error.message + ')', 'failed')
  }
}

addEventListener('hashchange', read)
for (;;) {
  await read()
  await new Promise((resolve) => setTimeout(resolve, POLL_MS))
}
`
