import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { ClientWire } from '../../../engine/model/wire/client-wires.ts';
import type { ScriptedUpstream } from '../upstreams/upstream.ts';
import { serveVendor } from '../vendors/serve-vendor.ts';
import type { Vendor } from '../vendors/vendor.ts';
import type { Breach, Loose, MemberCheck } from './check.ts';

/** What a vendor refuses beside what the original does, and in which shape. */
interface Refusals {
  readonly checks: readonly MemberCheck[];
  /** Default: 400. */
  readonly status?: number;
  /** The error's body; default: the vendor's own shape, with the first breach's words. */
  readonly failure?: (breaches: readonly [Breach, ...Breach[]]) => unknown;
}

/** A vendor that refuses by further rules, before its own. */
export const refusing = <Body extends object>(
  vendor: Vendor<Body>,
  { checks, status = 400, failure = ([{ words }]) => vendor.failure(status, words).body }: Refusals,
): Vendor<Body> => ({
  ...vendor,
  refusal(body, headers) {
    const loose: Loose = Object.fromEntries(Object.entries(body));
    const [first, ...more] = checks.flatMap((check) => check(loose, headers));
    return first
      ? { status: first.status ?? status, body: failure([first, ...more]) }
      : vendor.refusal?.(body, headers);
  },
});

/** What a client sends beside its turns and tools. */
interface Ask {
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A host that refuses something that no turn and no tool is, and the requests that meet it. */
export interface RefusingHost {
  readonly serve: (key: string) => Promise<ScriptedUpstream>;
  /** Whether it would refuse this. */
  readonly refuses: (request: { readonly body: unknown; readonly headers: IncomingHttpHeaders }) => boolean;
  /** How a provider of it is configured; its address tells the gateway nothing. */
  readonly provider: {
    readonly format: string;
    readonly options?: object;
    readonly base?: string;
    readonly model: string;
  };
  /** By client protocol; absent: its requests can't say this. */
  readonly asks: Readonly<Partial<Record<ClientWire, Ask>>>;
  /** The members of the upstream's body that differ in the second try, by path; `output limit` is under each of its names. */
  readonly becomes: Readonly<Record<string, unknown>>;
  /** All that was asked for is sent, in another way. */
  readonly isLossless?: true;
  /** Of one that isn't to be obeyed: the words that reach the client, request by request, and the calls so far. */
  readonly refusals?: readonly { readonly message: string; readonly sent: number }[];
}

/** In `becomes`: lowered, but not by how much. */
export const fitted = Symbol('fitted');

export type Row = Omit<RefusingHost, 'serve' | 'refuses'>;

export const host = <Body extends object>(vendor: Vendor<Body>, row: Row): RefusingHost => ({
  serve: (key) => serveVendor(vendor, key),
  // A simulated vendor reads whatever it is sent.
  refuses: ({ body, headers }) => vendor.refusal?.(body as Body, headers) !== undefined,
  ...row,
});
