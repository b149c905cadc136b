import { baseOf, type ClientGuide, limitsOf } from './client-guide.ts';
import { assignments, shellLabel, theKey } from './shell.ts';

/** GitHub Copilot CLI. Source: its documentation, "Using your own model provider". */
export const copilot: ClientGuide = {
  name: 'copilot',
  title: 'Copilot CLI',
  protocol: 'chat',
  snippets: (connection, shell) => {
    const { context, maxOutput } = limitsOf(connection, connection.model);
    return [
      {
        label: shellLabel[shell],
        text: `${assignments(shell, connection.wantsKey, [
          ['COPILOT_PROVIDER_BASE_URL', baseOf(connection)],
          ['COPILOT_PROVIDER_TYPE', 'openai'],
          ['COPILOT_PROVIDER_WIRE_API', 'completions'],
          ['COPILOT_PROVIDER_API_KEY', theKey],
          ['COPILOT_MODEL', connection.model],
          ...(context === undefined ? [] : [['COPILOT_PROVIDER_MAX_PROMPT_TOKENS', String(context)] as const]),
          ...(maxOutput === undefined ? [] : [['COPILOT_PROVIDER_MAX_OUTPUT_TOKENS', String(maxOutput)] as const]),
        ])}\ncopilot`,
      },
    ];
  },
  notes: ['`junctor run copilot` does the same for a single run. No GitHub login is needed.'],
};
