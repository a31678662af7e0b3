/** The files that the build makes: `build.mjs` lists them. */
import { fileURLToPath } from 'node:url'
import { readSoftware, SOFTWARE_ROOT } from '@quorumscan/base'

/** The version of all processes. */
export const VERSION = readSoftware().version

/** The page of the console. */
export const CONSOLE_DIRECTORY = fileURLToPath(new URL('dist/apps/console/', SOFTWARE_ROOT))

/** The bundle of the control plane, or of an app with its faults. */
export function bundleOf(process: 'control' | 'scan' | 'validator' | 'synchronizer'): string {
  const folder = process === 'control' ? 'control' : 'faults'
  return fileURLToPath(new URL(`dist/cluster/${folder}/${process}-main.js`, SOFTWARE_ROOT))
}
