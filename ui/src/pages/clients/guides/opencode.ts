import { baseOf, type ClientGuide, type Connection, limitsOf } from './client-guide.ts';
import { anyKey, keyVariable } from './shell.ts';

/** opencode. Source: its documentation, "Providers". */
export const opencode: ClientGuide = {
  name: 'opencode',
  title: 'opencode',
  protocol: 'chat',
  snippets: (connection) => [
    {
      label: 'opencode.json',
      text: JSON.stringify(
        {
          $schema: 'https://opencode.ai/config.json',
          model: `junctor/${connection.model}`,
          provider: {
            junctor: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Junctor',
              options: {
                baseURL: baseOf(connection),
                apiKey: connection.wantsKey ? `{env:${keyVariable}}` : anyKey,
                timeout: 600_000,
              },
              models: Object.fromEntries(namesOf(connection).map((name) => [name, modelOf(connection, name)])),
            },
          },
        },
        null,
        2,
      ),
    },
  ],
  notes: [
    'opencode shows only the models listed in this file. Add a line for each model that you add to the gateway.',
    '`junctor run opencode` sets this for a single run, with all models.',
  ],
};

/** Without `limit`, opencode never compacts. It takes both members or none; it asks for 32,000 tokens by itself. */
const modelOf = (connection: Connection, name: string): object => {
  const { context, maxOutput } = limitsOf(connection, name);
  if (context === undefined) return {};
  return { limit: { context, output: maxOutput ?? Math.min(32_000, Math.floor(context / 4)) } };
};

/** The name that the examples ask for, then all others. */
const namesOf = ({ model, models }: Connection): readonly string[] => [...new Set([model, ...destinations(models)])];

/** Names of the form `provider,model`; all others are aliases. */
const destinations = (models: readonly string[]): readonly string[] => {
  const named = models.filter((name) => name.includes(','));
  return named.length > 0 ? named : models;
};
