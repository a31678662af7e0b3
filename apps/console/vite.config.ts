import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// Everything is in files of our own, so that the page works without any network but the loopback.
export default defineConfig({
  plugins: [react()],
  base: './',
  build: { target: 'es2022', assetsInlineLimit: 0, reportCompressedSize: false },
})
