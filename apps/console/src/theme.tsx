/** Light, dark, or as the system has it; remembered where the browser allows. */
import { useEffect, useState } from 'react'

const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]
const KEY = 'quorumscan-theme'

function remembered(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system'
  } catch {
    return 'system' // Storage is switched off.
  }
}

export function ThemeButton() {
  const [theme, setTheme] = useState(remembered)
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = theme
    try {
      localStorage.setItem(KEY, theme)
    } catch {
      // As above.
    }
  }, [theme])
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system'
  return (
    <button
      type="button"
      className="quiet"
      onClick={() => setTheme(next)}
      aria-label={`Theme: ${theme}. Switch to ${next}.`}
    >
      {theme === 'dark' ? '☾' : theme === 'light' ? '☀' : '◑'} {theme}
    </button>
  )
}
