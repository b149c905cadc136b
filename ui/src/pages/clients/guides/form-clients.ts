import { baseOf, type ClientGuide, type Connection, limitsOf } from './client-guide.ts';
import { anyKey, keyVariable } from './shell.ts';

/** The values of the form's fields. */
const fields = (connection: Connection): string =>
  [
    'API Provider   OpenAI Compatible',
    `Base URL       ${baseOf(connection)}`,
    `API Key        ${connection.wantsKey ? `the value of $${keyVariable}` : anyKey}`,
    `Model ID       ${connection.model}`,
    `Context Window ${limitsOf(connection, connection.model).context ?? 'that of the model'}`,
  ].join('\n');

const formClient = (name: string, title: string, place: string): ClientGuide => ({
  name,
  title,
  protocol: 'chat',
  snippets: (connection) => [{ label: place, text: fields(connection) }],
  notes: [
    'The editor stores the key. It is the gateway’s key, not a provider’s.',
    'Set the context window: the form cannot detect it.',
  ],
});

/** Cline. Source: its documentation, "OpenAI Compatible". */
export const cline = formClient('cline', 'Cline', 'Settings → API Configuration');

/** Kilo Code. Source: its documentation, "OpenAI Compatible". */
export const kilo = formClient('kilo', 'Kilo Code', 'Settings → Providers');
