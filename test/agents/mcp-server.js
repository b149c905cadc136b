// @ts-check
import { createInterface } from 'node:readline';

/*
 * A small MCP server over standard input and output, for the agents of these tests. Its schemas are what real servers declare and
 * vendors refuse: an object without properties and, with the argument `unions`, a union at the root.
 */

const unionTool = {
  name: 'find',
  description: 'Finds an entry by its id or its name.',
  inputSchema: {
    type: 'object',
    anyOf: [
      { properties: { id: { type: 'integer' } }, required: ['id'] },
      { properties: { name: { type: 'string' } }, required: ['name'] },
    ],
  },
};

const tools = [
  {
    name: 'lookup',
    description: 'Looks up the value of a key.',
    inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
  },
  { name: 'help', description: 'Says what the server can do.', inputSchema: { type: 'object' } },
  ...(process.argv.includes('unions') ? [unionTool] : []),
];

/** @type {Record<string, (params: Record<string, any>) => unknown>} */
const methods = {
  initialize: ({ protocolVersion = '2025-06-18' }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'demo', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: given = {} }) => ({
    content: [{ type: 'text', text: `${name} found ${JSON.stringify(given)} with value-of-${given.key ?? 'nothing'}` }],
  }),
};

/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  // Notifications have no id, and get no answer.
  if (id === undefined) return;
  const answer = methods[method];
  if (answer) send({ id, result: answer(params) });
  else send({ id, error: { code: -32_601, message: `no method ${method}` } });
});
