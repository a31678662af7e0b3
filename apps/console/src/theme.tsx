/** Light, dark, or the setting of the system; stored if the browser allows it. */
import { useEffect, useState } from 'react'
import { Button } from './parts.tsx'

const THEMES = ['system', 'light', 'dark'] as const
const SIGNS = { system: '◑', light: '☀', dark: '☾' }
const KEY = 'quorumscan-theme'

/** Undefined if the browser forbids storage. */
function storage(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

export function ThemeButton() {
  const [theme, setTheme] = useState(
    () => THEMES.find((one) => one === storage()?.getItem(KEY)) ?? 'system',
  )
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme
    storage()?.setItem(KEY, theme)
  }, [theme])
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system'
  return (
    <Button
      className="quiet"
      onClick={() => setTheme(next)}
      aria-label={`Theme: ${theme}. Switch to ${next}.`}
    >
      {SIGNS[theme]} {theme}
    </Button>
  )
}
