/** Writes the page on every variable and flag: `npm run generate`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY_ROOT } from '../rig/built-files.ts'
import { configurationPage } from './configuration.ts'

writeFileSync(join(REPOSITORY_ROOT, 'docs/configuration.md'), configurationPage())
