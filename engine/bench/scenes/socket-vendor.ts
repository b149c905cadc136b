import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { parseAs } from '../parse-as.ts';

/** The call that every answer makes: a tool reads a file. */
export const callItem = (turn: number) => ({
  id: `fc_${turn}`,
  type: 'function_call',
  status: 'completed',
  call_id: `call_${turn}`,
  name: 'read_file',
  arguments: '{"path":"a.ts"}',
});

/** The events of one answer of Responses that calls a tool. */
const eventsOf = (turn: number): readonly object[] => {
  const item = callItem(turn);
  const response = {
    id: `resp_${turn}`,
    object: 'response',
    created_at: 1_763_683_200,
    status: 'in_progress',
    model: 'm',
    output: [],
  };
  const place = { output_index: 0, item_id: item.id };
  return [
    { type: 'response.created', response },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments },
    { type: 'response.function_call_arguments.done', ...place, arguments: item.arguments },
    { type: 'response.output_item.done', output_index: 0, item },
    {
      type: 'response.completed',
      response: {
        ...response,
        status: 'completed',
        output: [item],
        usage: { input_tokens: 9, output_tokens: 9, total_tokens: 18 },
      },
    },
  ].map((event, at) => ({ ...event, sequence_number: at }));
};

/** A simulated vendor of Responses that always calls a tool, over HTTP and over WebSocket. */
export const startSocketVendor = async () => {
  let turn = 0;
  const next = (): readonly object[] => {
    turn += 1;
    return eventsOf(turn);
  };
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of next()) {
        response.write(`event: ${'type' in event ? event.type : ''}\ndata: ${JSON.stringify(event)}\n\n`);
      }
      response.end();
    });
  });
  const sockets = new WebSocketServer({ server, maxPayload: 64 << 20 });
  sockets.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      if (parseAs<{ readonly type?: string }>(String(data)).type !== 'response.create') return;
      for (const event of next()) socket.send(JSON.stringify(event));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const place = server.address();
  return {
    port: typeof place === 'object' ? (place?.port ?? 0) : 0,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
};
