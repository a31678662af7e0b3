/**
 * What the SDK asks of a page, by types of its own: it also compiles in projects that know no browser.
 * Each member may be missing: Node and workers have some of them only.
 */
export interface Page {
  readonly addEventListener?: (
    event: string,
    listener: (event: { readonly key?: string | null }) => void,
    options?: { readonly signal: AbortSignal },
  ) => void
  readonly document?: Pick<Required<Page>, 'addEventListener'> & {
    readonly visibilityState: string
  }
  readonly navigator?: { readonly onLine?: boolean }
}

export const page: Page = globalThis as Page
