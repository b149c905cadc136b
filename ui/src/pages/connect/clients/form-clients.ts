import { baseOf, type ClientGuide, type Connection } from './client-guide.ts';
import { anyKey, keyVariable } from './shell.ts';

/** What goes into the fields of a form. */
const fields = (connection: Connection): string =>
  [
    'API Provider   OpenAI Compatible',
    `Base URL       ${baseOf(connection, 'with /v1')}`,
    `API Key        ${connection.wantsKey ? `the value of $${keyVariable}` : anyKey}`,
    `Model ID       ${connection.model}`,
  ].join('\n');

const formClient = (name: string, title: string, place: string): ClientGuide => ({
  name,
  title,
  protocol: 'chat',
  base: 'with /v1',
  snippets: (connection) => [{ label: place, text: fields(connection) }],
  notes: [
    'The key is kept by the editor; it is the gateway’s, not a provider’s.',
    'Set the context window of the model behind the name: the form cannot know it.',
  ],
});

/** Cline. Source: its documentation, "OpenAI Compatible". */
export const cline = formClient('cline', 'Cline', 'Settings → API Configuration');

/** Kilo Code. Source: its documentation, "OpenAI Compatible". */
export const kilo = formClient('kilo', 'Kilo Code', 'Settings → Providers');
