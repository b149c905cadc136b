import { type Access, type ClientTool, clientKeyVariable, keyAs, type OfferedModel, routedName } from './tool.ts';

/** An environment variable has room for about this many models. */
const mostModels = 300;

/** The longest answer of a model of which none is known; opencode asks for no more by itself. */
const usualOutput = 32_000;

const model = ({ title, context, maxOutput }: OfferedModel) => ({
  name: title,
  // Without a limit, opencode never compacts. It takes both or none.
  ...(context !== undefined && {
    limit: { context, output: maxOutput ?? Math.min(usualOutput, Math.floor(context / 4)) },
  }),
});

/** The name of the route for small tasks, if there is one: its alias. */
const backgroundName = 'junctor-background';

/** Each model once: the gateway's own choice, the route for small tasks, destinations by their whole names, and pools. */
const eachOnce = (models: readonly OfferedModel[]): readonly OfferedModel[] => {
  const isWhole = ({ name }: OfferedModel): boolean => name.includes(',');
  const listed = new Set(models.filter(isWhole).map(({ name }) => name.slice(name.indexOf(',') + 1)));
  const isOther = ({ name }: OfferedModel): boolean => !name.startsWith('junctor-') && !listed.has(name);
  const first = models.filter(({ name }) => name === routedName || name === backgroundName);
  return [...first, ...models.filter((one) => !first.includes(one) && (isWhole(one) || isOther(one)))];
};

const configuration = (access: Access) => ({
  model: `junctor/${access.model}`,
  small_model: `junctor/${access.models.some(({ name }) => name === backgroundName) ? backgroundName : access.model}`,
  provider: {
    junctor: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Junctor',
      options: {
        baseURL: `${access.baseUrl}/v1`,
        apiKey: keyAs(access, `{env:${clientKeyVariable}}`),
        timeout: 600_000,
      },
      models: Object.fromEntries(
        eachOnce(access.models)
          .slice(0, mostModels)
          .map((one) => [one.name, model(one)]),
      ),
    },
  },
});

/**
 * opencode. Source: its documentation, "Config" and "Providers": the content of this variable wins over global and project files;
 * tried with version 1.18.33.
 */
export const opencode: ClientTool = {
  name: 'opencode',
  title: 'opencode',
  protocol: 'chat',
  commands: ['opencode'],
  variables: (access) => ({
    // An agent or a command of the user's may name a model of another provider: it fails instead of going there.
    OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...configuration(access), enabled_providers: ['junctor'] }),
  }),
  guide: (access) => [
    {
      label: 'opencode.json',
      text: JSON.stringify({ $schema: 'https://opencode.ai/config.json', ...configuration(access) }, null, 2),
    },
  ],
  notes: ['opencode shows only the models listed in this file. Add a line for each model that you add to the gateway.'],
};
