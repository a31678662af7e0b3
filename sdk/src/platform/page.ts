/**
 * What the SDK uses of a page, by types of its own, so that it compiles in projects without DOM types. Each member may
 * be missing: Node and workers have only some of them.
 */
type Page = {
  readonly addEventListener?: (
    event: string,
    listener: (event: { readonly key?: string | null }) => void,
  ) => void
  readonly removeEventListener?: (event: string, listener: () => void) => void
  readonly document?: Pick<Page, 'addEventListener' | 'removeEventListener'> & {
    readonly visibilityState: string
  }
  readonly navigator?: { readonly onLine?: boolean }
}

export const page: Page = globalThis as Page

export function deviceState() {
  return {
    /** The device reports that it has no network. Servers on this device may still answer. */
    isOffline: page.navigator?.onLine === false,
    /** The user does not see the page, such as in a background tab. */
    isHidden: page.document?.visibilityState === 'hidden',
  }
}
