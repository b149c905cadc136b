import type { ClientGuide } from './client-guide.ts';
import { anyKey, keyVariable } from './shell.ts';

/** Claude Desktop. Source: its documentation, "Cowork on third-party platforms", "Configuration reference"; not tried. */
export const claudeDesktop: ClientGuide = {
  name: 'claude-desktop',
  title: 'Claude Desktop',
  protocol: 'messages',
  appendsVersion: true,
  snippets: ({ origin, wantsKey }) => [
    {
      label: 'Developer → Configure Third-Party Inference',
      text: [
        'Inference provider  Gateway',
        `Gateway base URL    ${origin}`,
        `Gateway API key     ${wantsKey ? `the value of $${keyVariable}` : anyKey}`,
        'Gateway auth scheme bearer',
        'Models              claude-opus-5-5, claude-sonnet-5-5, claude-haiku-5-5',
      ].join('\n'),
    },
  ],
  notes: [
    'Help → Troubleshooting → Enable Developer Mode shows the menu. Not tried with the program itself.',
    'The address must be HTTPS, or `http://127.0.0.1`.',
    'It takes only names like Claude’s. The rules choose for those that no provider has; `claude-junctor-<provider>-<model>` leads to one of your models.',
  ],
};
