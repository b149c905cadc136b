// The least that a gateway of this stack can be: Node.js, uWebSockets.js and undici, loaded and listening. What it takes to start
// and to be there is the floor for cold start and idle memory. Plain JavaScript, so that nothing is translated first.
import { createRequire } from 'node:module';
import { Pool } from 'undici';

const newer = Number.parseInt(process.versions.node, 10) >= 22 ? ['uWebSockets.js'] : [];
const require = createRequire(import.meta.url);

const load = () => {
  for (const name of [...newer, 'uWebSockets.js-glibc227']) {
    try {
      return require(name);
    } catch {
      // The other one may fit this machine.
    }
  }
  throw new Error('No build of uWebSockets.js runs here.');
};

const uws = load();
const pool = new Pool(process.argv[2]);

uws
  .App()
  .any('/*', (res, req) => {
    const path = req.getUrl();
    const chunks = [];
    let gone = false;
    res.onAborted(() => {
      gone = true;
    });
    res.onData((chunk, last) => {
      chunks.push(Buffer.from(chunk.slice(0)));
      if (!last) return;
      const headers = { 'content-type': 'application/json' };
      void pool.request({ method: 'POST', path, headers, body: Buffer.concat(chunks) }).then(async ({ body }) => {
        const text = await body.text();
        if (!gone) res.cork(() => res.end(text));
      });
    });
  })
  .listen('127.0.0.1', 0, (socket) => console.log(`http://127.0.0.1:${uws.us_socket_local_port(socket)}`));
