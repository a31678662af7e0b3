export function anchorsOf(text: string): ReadonlySet<string>
export function isExternal(target: string): boolean
export function linksOf(text: string): readonly string[]
