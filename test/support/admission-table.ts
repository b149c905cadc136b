import { hash } from 'node:crypto';

/** Keys that the requests of the table carry. */
const administratorKey = 'the-key-of-the-administrator';
const clientKey = 'the-key-of-a-client';

const clients = [{ name: 'team', keyHash: hash('sha256', clientKey) }];

/** What a path is open to. `none`: there is no such path. */
export type Door = 'open' | 'clients' | 'administrator' | 'none';

/** The status that a request gets by its path; 200 stands for "goes on". */
type Statuses = Readonly<Record<Door, 200 | 401 | 403 | 404>>;

/** Which keys are configured, which one is sent, and what that opens. */
interface KeyRow {
  readonly title: string;
  readonly keys: { readonly apiKey?: string; readonly clients?: typeof clients };
  readonly sent: string | undefined;
  /** Called directly by a program of this machine. */
  readonly direct: Statuses;
  /** Called in any other way; absent: the same. */
  readonly detour?: Statuses;
}

const statuses = (
  open: Statuses['open'],
  forClients: Statuses['clients'],
  administrator: Statuses['administrator'],
  none: Statuses['none'],
): Statuses => ({ open, clients: forClients, administrator, none });

const everything = statuses(200, 200, 200, 404);
const nothing = statuses(200, 401, 401, 401);
const modelsAlone = statuses(200, 200, 403, 404);
const unadministered = statuses(200, 200, 401, 404);

const both = { apiKey: administratorKey, clients };

/** All combinations of configured and sent keys. */
export const keyRows: readonly KeyRow[] = [
  { title: 'no keys, none sent', keys: {}, sent: undefined, direct: everything, detour: unadministered },
  { title: 'no keys, one sent', keys: {}, sent: 'any', direct: everything, detour: unadministered },
  { title: 'APIKEY, none sent', keys: { apiKey: administratorKey }, sent: undefined, direct: nothing },
  { title: 'APIKEY, a wrong one sent', keys: { apiKey: administratorKey }, sent: 'wrong', direct: nothing },
  { title: 'APIKEY, sent', keys: { apiKey: administratorKey }, sent: administratorKey, direct: everything },
  {
    title: 'CLIENTS, none sent',
    keys: { clients },
    sent: undefined,
    direct: statuses(200, 401, 200, 404),
    detour: nothing,
  },
  { title: 'CLIENTS, a wrong one sent', keys: { clients }, sent: 'wrong', direct: nothing },
  { title: "CLIENTS, a client's sent", keys: { clients }, sent: clientKey, direct: modelsAlone },
  { title: 'both, none sent', keys: both, sent: undefined, direct: nothing },
  { title: 'both, a wrong one sent', keys: both, sent: 'wrong', direct: nothing },
  { title: "both, a client's sent", keys: both, sent: clientKey, direct: modelsAlone },
  { title: 'both, APIKEY sent', keys: both, sent: administratorKey, direct: everything },
];

/** How a request comes. `PORT` is the listener's. */
export interface Way {
  /** Default: 127.0.0.1. */
  readonly peer?: string;
  readonly proxies?: readonly string[];
  /** By the PROXY protocol. */
  readonly proxied?: string;
  /** Default: `127.0.0.1:PORT`. */
  readonly host?: string;
  readonly origin?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** ALLOWED_HOSTS of the table. */
export const allowedHosts = ['any.example', 'one.example:8443'];

/** A program of this machine that calls directly. */
const direct: readonly Way[] = [
  {},
  { peer: '127.0.0.9' },
  { peer: '::1', host: '[::1]:PORT' },
  { host: 'localhost:PORT' },
  { host: 'localhost' },
  { host: 'localhost:PORT', origin: 'http://127.0.0.1:PORT' },
  { origin: 'http://127.0.0.1:PORT' },
  { proxies: ['10.0.0.0/8', '::1'] },
  { headers: { 'x-request-id': 'mine', traceparent: 'x', 'x-title': 'forward proxy', from: 'me' } },
];

/** Whatever shows that a request may come from elsewhere. */
const detours: readonly Way[] = [
  { peer: '10.1.2.3' },
  { peer: 'fd00::1' },
  { proxies: ['127.0.0.1'] },
  { proxies: ['127.0.0.0/8'], headers: { 'x-forwarded-for': '127.0.0.1' } },
  { peer: '::1', proxies: ['::1'] },
  { proxied: '127.0.0.1' },
  { host: 'any.example' },
  { host: 'one.example:8443', origin: 'https://one.example:8443' },
  { origin: 'https://any.example' },
  { origin: 'https://one.example:8443' },
  ...[
    'forwarded',
    'via',
    'x-forwarded',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-forwarded-port',
    'x-forwarded-server',
    'x-forwarded-prefix',
    'x-forwarded-client-cert',
    'x-original-forwarded-for',
    'x-original-host',
    'x-original-url',
    'x-real-ip',
    'x-client-ip',
    'x-cluster-client-ip',
    'true-client-ip',
    'fastly-client-ip',
    'cf-connecting-ip',
    'cf-connecting-ipv6',
    'cf-ray',
    'cdn-loop',
    'x-azure-clientip',
    'x-remote-addr',
    'x-originating-ip',
    'x-envoy-external-address',
    'x-proxyuser-ip',
    'proxy-connection',
    'tailscale-user-login',
    'x-scheme',
  ].flatMap((name) => [{ headers: { [name]: '127.0.0.1' } }, { headers: { [name]: '' } }]),
];

/** Foreign pages and names: 403, whatever the key. */
const foreign: readonly Way[] = [
  { host: 'evil.example' },
  { host: 'one.example' },
  { host: '' },
  { origin: 'http://127.0.0.1' },
  { origin: 'http://127.0.0.1:1' },
  { origin: 'http://localhost:3000' },
  { origin: 'https://evil.example' },
  { origin: 'https://one.example' },
  { origin: 'null' },
  { host: 'any.example', origin: 'https://evil.example' },
  { headers: { 'sec-fetch-site': 'cross-site' } },
];

/** All ways, with what they count as. */
export const ways: readonly { readonly kind: 'direct' | 'detour' | 'foreign'; readonly way: Way }[] = [
  ...direct.map((way) => ({ kind: 'direct', way }) as const),
  ...detours.map((way) => ({ kind: 'detour', way }) as const),
  ...foreign.map((way) => ({ kind: 'foreign', way }) as const),
];

/** The status of a request. */
export const statusOf = (row: KeyRow, kind: (typeof ways)[number]['kind'], door: Door): number => {
  switch (kind) {
    case 'direct':
      return row.direct[door];
    case 'detour':
      return (row.detour ?? row.direct)[door];
    case 'foreign':
      return 403;
    default:
      return kind satisfies never;
  }
};

/** The headers of a request, in order. */
export const headersOf = (
  { host = '127.0.0.1:PORT', origin, headers = {} }: Way,
  sent: string | undefined,
  port: number,
): readonly (readonly [name: string, value: string])[] =>
  [
    ['host', host] as const,
    ...(origin === undefined ? [] : [['origin', origin] as const]),
    ...Object.entries(headers),
    ...(sent === undefined ? [] : [['x-api-key', sent] as const]),
  ].map(([name, value]) => [name, value.replaceAll('PORT', String(port))] as const);
