import { baseOf, type ClientGuide, type Connection, limitsOf } from './client-guide.ts';
import { anyKey, assignments, keyVariable, shellLabel } from './shell.ts';

/** Codex. Source: its documentation, "Configuration", `model_providers`. */
export const codex: ClientGuide = {
  name: 'codex',
  title: 'Codex',
  protocol: 'responses',
  snippets: (connection, shell) => [
    {
      label: '~/.codex/config.toml',
      text: [
        ...(connection.byRules ? [] : [`model = ${JSON.stringify(connection.model)}`]),
        'model_provider = "junctor"',
        ...windowOf(connection),
        '',
        '[model_providers.junctor]',
        'name = "Junctor"',
        `base_url = ${JSON.stringify(baseOf(connection))}`,
        `env_key = "${keyVariable}"`,
        'wire_api = "responses"',
        'supports_websockets = false',
        'stream_idle_timeout_ms = 600000',
      ].join('\n'),
    },
    ...(connection.wantsKey
      ? []
      : [{ label: shellLabel[shell], text: assignments(shell, false, [[keyVariable, anyKey]]) }]),
  ],
  notes: [
    'What is above `[model_providers.junctor]` must come before the first `[table]` in the file. Back the file up before you change it.',
    `Codex reads the key from \`${keyVariable}\` and refuses to start while it is empty.`,
    '`junctor run codex` does the same for a single run, changes no files and tells Codex the window of each model.',
  ],
};

const windowOf = (connection: Connection): readonly string[] => {
  const { context } = limitsOf(connection, connection.model);
  return context === undefined ? [] : [`model_context_window = ${context}`];
};
