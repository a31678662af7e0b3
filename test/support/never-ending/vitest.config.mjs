// The real configuration; its project `unit` runs never.test.ts instead of its own tests.
import { join } from 'node:path'
import config from '../../../vitest.config.ts'

const root = join(import.meta.dirname, '../../..')
const include = ['test/support/never-ending/never.test.ts']
const projects = config.test.projects
  .filter(({ test }) => test.name === 'unit')
  .map((project) => ({ ...project, test: { ...project.test, include } }))

export default { ...config, root, test: { ...config.test, projects } }
