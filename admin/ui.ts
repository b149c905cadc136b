import Type from 'typebox';
import type { OperationDoc, RouteOperation } from '../engine/http/documented-route.ts';
import type { ReplyPart, WholeReply } from '../engine/http/endpoint.ts';
import { fail } from '../engine/model/fault.ts';
import type { Headers } from '../engine/model/protocol.ts';
import { chooseEncoding } from './content-coding.ts';
import { openEndpoint, ServiceFault } from './endpoint.ts';
import type { UiFiles } from './ui-files.ts';

/** Only same-origin resources, no framing, no inline scripts or styles. Source: W3C, "Content Security Policy Level 3". */
const contentSecurityPolicy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders: Headers = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Serves the web interface: `GET /ui` is its page, `/ui/assets/*` its files. Needs no key: the files hold no secrets, and a
 * browser couldn't send one for them.
 */
export const uiOperations = (filesNow: () => Promise<UiFiles>, canBuild: () => boolean) => ({
  page: open(async (headers) => {
    const files = await filesNow();
    return files.has('index.html') ? send(files, 'index.html', headers) : noPage(canBuild());
  }, pageDoc),
  redirect: open(async () => redirect, redirectDoc),
  asset: open(async (headers, rest) => send(await filesNow(), `assets/${rest}`, headers), assetDoc),
});

const open = (answer: (headers: Headers, rest: string) => Promise<ReplyPart>, doc: OperationDoc): RouteOperation => ({
  endpoint: openEndpoint(({ headers }, { '*': rest = '' }) => answer(headers, rest)),
  doc,
});

const send = async (files: UiFiles, name: string, headers: Headers): Promise<WholeReply> => {
  const file = files.get(name) ?? fail('not-found', 'The web interface has no such file.');
  const encoding = file.compressible ? chooseEncoding(headers['accept-encoding']) : 'identity';
  return {
    type: 'whole',
    status: 200,
    headers: {
      ...pageHeaders,
      'content-type': file.type,
      'cache-control': file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(file.compressible && { vary: 'accept-encoding' }),
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    },
    body: await file.load(encoding),
  };
};

/** Relative, since a proxy may serve the interface below a path of its own. */
const redirect: WholeReply = {
  type: 'whole',
  status: 308,
  headers: { ...pageHeaders, location: '../ui', 'cache-control': 'no-cache' },
  body: '',
};

/** The page while there are no files. `isBuilding`: the first start makes them; else the package is incomplete, or was moved. */
const noPage = (isBuilding: boolean): WholeReply => ({
  type: 'whole',
  status: 503,
  headers: { ...pageHeaders, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  body: `<!doctype html>
<html lang="en">
<meta http-equiv="refresh" content="2">
<title>Junctor</title>
${isBuilding ? beingBuilt : filesMissing}
</html>
`,
});

const beingBuilt = `<h1>The web interface is being built</h1>
<p>The gateway runs already. The first start builds its web interface, which takes some seconds; this page shows it by itself.</p>
<p>If it doesn't, the packages that it is built with are missing: run <code>npm install &amp;&amp; npm run build</code>.</p>`;

const filesMissing = `<h1>The files of the web interface are missing</h1>
<p>The gateway runs, but its package is incomplete, or was moved or replaced while it runs: install the package again if need be,
then run <code>junctor stop</code> and <code>junctor start</code>.</p>`;

const page = { 'text/html': Type.String() };

const pageDoc: OperationDoc = {
  summary: 'The web interface',
  group: 'management',
  answers: {
    200: { description: 'The page.', content: page },
    503: { description: 'Its files are missing.', content: page },
  },
  fault: ServiceFault,
};

const redirectDoc: OperationDoc = {
  summary: 'The web interface, under another spelling',
  group: 'management',
  answers: { 308: { description: 'It is at `/ui`.' } },
  fault: ServiceFault,
};

const assetDoc: OperationDoc = {
  summary: "A file of the web interface's",
  group: 'management',
  answers: {
    200: {
      description: 'The file.',
      content: { 'text/javascript': Type.String(), 'text/css': Type.String(), 'image/svg+xml': Type.String() },
    },
  },
  fault: ServiceFault,
};
