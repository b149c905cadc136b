/** A simulated vendor: refuses what the original refuses, and answers what the user's words ask for. */
export interface Vendor<Body> {
  readonly path: string;
  /** What the original would refuse in this request; nothing when it would take it. */
  readonly complaint: (body: Body) => string | undefined;
  readonly error: (message: string) => unknown;
  readonly answer: (body: Body) => VendorAnswer;
}

export type VendorAnswer =
  | { readonly type: 'json'; readonly body: unknown }
  | { readonly type: 'stream'; readonly pieces: readonly string[] };
