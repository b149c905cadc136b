import { baseOf, type ClientGuide } from './client-guide.ts';
import { assignments, quoted, shellLabel, theKey } from './shell.ts';

/** aider. Source: its documentation, "OpenAI compatible APIs". */
export const aider: ClientGuide = {
  name: 'aider',
  title: 'aider',
  protocol: 'chat',
  snippets: (connection, shell) => [
    {
      label: shellLabel[shell],
      text: `${assignments(shell, connection.wantsKey, [
        ['OPENAI_API_BASE', baseOf(connection)],
        ['OPENAI_API_KEY', theKey],
      ])}\naider --timeout 600 --model ${quoted[shell](`openai/${connection.model}`)}`,
    },
  ],
  notes: ['The prefix `openai/` selects the API that aider uses. It is not sent to the gateway.'],
};
