import { baseOf, type ClientGuide } from './client-guide.ts';
import { anyKey, keyVariable } from './shell.ts';

/** Continue. Source: its documentation, "config.yaml reference". Quoted JSON texts are YAML, too. */
export const continueDev: ClientGuide = {
  name: 'continue',
  title: 'Continue',
  protocol: 'chat',
  base: 'with /v1',
  snippets: (connection) => [
    {
      label: '~/.continue/config.yaml',
      text: `models:
  - name: Switchyard
    provider: openai
    model: ${JSON.stringify(connection.model)}
    apiBase: ${JSON.stringify(baseOf(connection, 'with /v1'))}
    apiKey: ${connection.wantsKey ? `\${{ secrets.${keyVariable} }}` : anyKey}
    roles: [chat, edit, apply]
    requestOptions:
      timeout: 600000`,
    },
  ],
  notes: [
    `It looks for secrets in \`~/.continue/.env\`: a line \`${keyVariable}=…\` there, or the key itself in the file.`,
  ],
};
