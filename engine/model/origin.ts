/** Where a request arrived, and whose key it carries. */
export interface RequestOrigin {
  /** The path as sent, without the preset. */
  readonly path: string;
  readonly preset: string | undefined;
  /** The name of the client whose key it carries; `undefined`: the administrator. */
  readonly key: string | undefined;
}

/** The origin of an incoming request; `preset` is its name in the path, if it has one. */
export const originOf = (
  { path, namedClient }: { readonly path: string; readonly namedClient: string | undefined },
  preset: string | undefined,
): RequestOrigin => ({
  path: preset === undefined ? path : path.replace(presetPart, ''),
  preset,
  key: namedClient,
});

/** The preset in a path, still percent-encoded. */
const presetPart = /^\/preset\/[^/]*/;

/** The origin of a request that no client sent. */
export const unknownOrigin: RequestOrigin = { path: '', preset: undefined, key: undefined };
