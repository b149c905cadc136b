import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { openSocket, type SocketClient } from '../../../support/faults/socket-client.ts';
import { providersAt, wires } from '../../../support/faults/wires.ts';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { until } from '../../../support/until.ts';
import { sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const clients = 16;

const turn = { type: 'response.create', model: 'responses,own', input: 'hi', store: false };

/** What happened to clients that hold a connection, and come back at once when it ends. */
class Clients {
  readonly #t: Parameters<typeof openSocket>[0];
  readonly #url: string;
  /** How connections ended, and why handshakes failed. */
  readonly ends = new Set<string>();
  readonly refusals = new Set<string>();
  turns = 0;
  opened = 0;
  #isEnding = false;
  #tellEnd: () => void = () => undefined;
  readonly #over = new Promise<void>((resolve) => {
    this.#tellEnd = resolve;
  });

  constructor(t: Parameters<typeof openSocket>[0], url: string) {
    this.#t = t;
    this.#url = url;
  }

  readonly #open = async (): Promise<SocketClient> => {
    for (;;) {
      try {
        const socket = await openSocket(this.#t, this.#url);
        this.opened += 1;
        return socket;
      } catch (error) {
        this.refusals.add(String(error));
        await wait(1);
      }
    }
  };

  /** `isBusy`: it asks one thing after the other, else once per connection. */
  async run(isBusy: boolean): Promise<void> {
    while (!this.#isEnding) {
      const client = await this.#open();
      let isOpen = true;
      const closed = client.closed.then(({ code }) => {
        isOpen = false;
        this.ends.add(`${code}`);
      });
      do {
        client.send(turn);
        // A message that crosses the end of the connection has no answer.
        const last = (await client.answer().catch(() => [])).at(-1)?.type ?? 'none';
        if (last === 'response.completed') this.turns += 1;
        else if (last !== 'none') this.ends.add(last);
      } while (isBusy && isOpen && !this.#isEnding);
      await Promise.race([closed, this.#over]);
      if (isOpen && this.#isEnding) client.socket.close(1000);
      await closed;
    }
  }

  end(): void {
    this.#isEnding = true;
    this.#tellEnd();
  }
}

for (const [server, workers] of [
  ['uws', 1],
  ['node', 2],
] as const) {
  test.serial(`a restart costs no client its WebSocket: ${server}, ${workers} workers`, async (t) => {
    const upstream = await startUpstream(() => sseAnswer([wires.responses.stream(['one', 'two']).join('')]));
    t.teardown(() => upstream.close());
    const rig = await commandRig(t, { WORKERS: workers, ...providersAt(() => upstream.url) });
    const started = await rig.ask(['start', '--daemon'], { env: { JUNCTOR_HTTP: server } });
    t.teardown(() => rig.ask(['stop']));
    const baseUrl = addressIn(started.out);
    const all = new Clients(t, `${baseUrl}/v1/responses`);
    const running = Array.from({ length: clients }, (_, index) => all.run(index % 2 === 0));
    await until(() => all.opened === clients && all.turns >= clients);
    const restarted = await fetch(`${baseUrl}/api/restart`, { method: 'POST' });
    // Each is told once, and is back.
    await until(() => all.opened >= 2 * clients);
    const turns = all.turns;
    await until(() => all.turns >= turns + clients);
    all.end();
    await Promise.all(running);
    t.is(restarted.status, 200);
    t.deepEqual([...all.ends].toSorted(), ['1000', '1012']);
    t.deepEqual(
      [...all.refusals].filter((refusal) => refusal !== 'Error: status 503'),
      [],
    );
  });
}
