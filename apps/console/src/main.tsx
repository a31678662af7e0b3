/** Puts the page together. */
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { tokenOf } from './api.ts'
import { App } from './app.tsx'
import './styles.css'

const root = document.getElementById('root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App token={tokenOf(window.location.hash)} />
    </StrictMode>,
  )
