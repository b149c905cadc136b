import { baseOf, type ClientGuide } from './client-guide.ts';
import { anyKey, keyVariable } from './shell.ts';

/** Continue. Source: its documentation, "config.yaml reference". JSON strings are valid YAML. */
export const continueDev: ClientGuide = {
  name: 'continue',
  title: 'Continue',
  protocol: 'chat',
  snippets: (connection) => [
    {
      label: '~/.continue/config.yaml',
      text: `models:
  - name: Junctor
    provider: openai
    model: ${JSON.stringify(connection.model)}
    apiBase: ${JSON.stringify(baseOf(connection))}
    apiKey: ${connection.wantsKey ? `\${{ secrets.${keyVariable} }}` : anyKey}
    roles: [chat, edit, apply]
    requestOptions:
      timeout: 600000`,
    },
  ],
  notes: [
    `Continue reads secrets from \`~/.continue/.env\`: add a line \`${keyVariable}=…\` there, or write the key itself into this file.`,
  ],
};
