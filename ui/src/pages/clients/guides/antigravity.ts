import { baseOf, type ClientGuide } from './client-guide.ts';
import { assignments, shellLabel, theKey } from './shell.ts';

/** Antigravity CLI. Source: Google's documentation, "Connect to an enterprise gateway"; not tried. */
export const antigravity: ClientGuide = {
  name: 'antigravity',
  title: 'Antigravity CLI',
  protocol: 'chat',
  snippets: (connection, shell) => [
    {
      label: shellLabel[shell],
      text: `${assignments(shell, connection.wantsKey, [
        ['AGY_LLM_GATEWAY_URL', baseOf(connection)],
        ['AGY_LLM_GATEWAY_API_KEY', theKey],
        ['AGY_LLM_GATEWAY_WIRE_PROTOCOL', 'openai'],
        ['AGY_LLM_GATEWAY_MODELS', connection.model.slice(connection.model.indexOf(',') + 1)],
      ])}\nagy`,
    },
  ],
  notes: [
    '`junctor run agy` does the same for a single run. No login at Google is needed. Not tried with the program itself.',
    'Names in the list are divided by commas, so a model stands there without its provider.',
  ],
};
