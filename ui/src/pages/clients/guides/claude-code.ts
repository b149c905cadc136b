import { type ClientGuide, type Connection, limitsOf } from './client-guide.ts';
import { assignments, shellLabel, theKey } from './shell.ts';

/** Claude Code. Source: its documentation, "LLM gateway configuration" and "Environment variables". */
export const claudeCode: ClientGuide = {
  name: 'claude-code',
  title: 'Claude Code',
  protocol: 'messages',
  appendsVersion: true,
  path: '/v1/messages?beta=true',
  headers: { 'anthropic-version': '2023-06-01' },
  snippets: (connection, shell) => [
    {
      label: shellLabel[shell],
      text: `${assignments(shell, connection.wantsKey, [
        ['ANTHROPIC_BASE_URL', connection.origin],
        ['ANTHROPIC_AUTH_TOKEN', theKey],
        ['ANTHROPIC_API_KEY', ''],
        ...(connection.byRules ? [] : [['ANTHROPIC_MODEL', connection.model] as const]),
        ['API_TIMEOUT_MS', '600000'],
        ['CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY', '1'],
        ['CLAUDE_CODE_GATEWAY_HINT_HEADERS', '1'],
        ...windowOf(connection),
      ])}\nclaude`,
    },
  ],
  notes: [
    'Claude Code asks for its own models; `/model` in it, or `ANTHROPIC_MODEL`, names one of the gateway’s instead.',
    '`junctor run claude` does the same for a single run and changes no files.',
    'Claude Code lists only models with `claude` or `anthropic` in their names, so the gateway lists an alias (`anthropic-junctor-…`) for each model.',
    'Variables in a `settings.json` of Claude Code win over these; `junctor run claude` wins over both.',
    'Your own `ANTHROPIC_API_KEY` would be sent along with the token, so it is unset.',
  ],
};

/** For names that Claude Code doesn't know: it assumes a million tokens. */
const windowOf = (connection: Connection): readonly (readonly [name: string, value: string])[] => {
  const { context } = limitsOf(connection, connection.model);
  return context === undefined ? [] : [['CLAUDE_CODE_MAX_CONTEXT_TOKENS', String(context)]];
};
