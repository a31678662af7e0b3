/** The folder of a package, for modules that may have been bundled to another depth. */
import { existsSync } from 'node:fs'

/**
 * @param moduleUrl - `import.meta.url` of a module.
 * @returns The folder, with a slash at its end, of the package.json nearest above the module: that of its
 *   package, or of the package that it was bundled into.
 * @throws {Error} If it does not exist.
 */
export function packageRoot(moduleUrl: string): URL {
  for (let folder = new URL('./', moduleUrl); ; folder = new URL('../', folder)) {
    if (existsSync(new URL('package.json', folder))) return folder
    if (folder.pathname === '/') throw new Error(`no package.json above ${moduleUrl}`)
  }
}
