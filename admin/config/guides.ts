import Type from 'typebox';
import { accessTo } from '../../engine/client-tools/access.ts';
import { guideOf } from '../../engine/client-tools/guide.ts';
import { shellLines, withoutProxy } from '../../engine/client-tools/shell.ts';
import { anyKey, clientKeyVariable, keyReference, routedName, shells } from '../../engine/client-tools/tool.ts';
import { clientTools } from '../../engine/client-tools/tools.ts';
import { showReferencesIn } from '../../engine/config/env.ts';
import { fail } from '../../engine/model/fault.ts';
import type { Gateway } from '../../engine/routing/gateway.ts';
import { jsonOperation } from '../endpoint.ts';
import { ClientGuides } from '../schema.ts';

/** `GET /api/clients/guides`: how each client program is directed to the gateway. */
export const guideOperations = (gateway: () => Pick<Gateway, 'config' | 'modelFacts'>) => ({
  guides: jsonOperation({
    summary: 'How client programs are directed to the gateway',
    says: 'What to copy for each of them.',
    reply: ClientGuides,
    query: {
      base: Type.String({ description: 'The address by which they reach it: `http://127.0.0.1:3456`.' }),
      model: Type.Optional(
        Type.String({
          description: 'The name that they ask for; absent: the rules choose, or the first model without a default.',
        }),
      ),
      shell: Type.Optional(Type.Enum(shells, { default: 'posix' })),
      key: Type.Optional(
        Type.Boolean({ description: `Whether they need a key, which is read from \`${clientKeyVariable}\`.` }),
      ),
    },
    answer: ({ query }) => {
      const { config, modelFacts } = gateway();
      const params = new URLSearchParams(query);
      const baseUrl = params.get('base') ?? '';
      if (!URL.canParse(baseUrl) || !['http:', 'https:'].includes(new URL(baseUrl).protocol))
        fail('invalid-request', 'base must be an http or https URL.', { param: 'base' });
      const asked = params.get('shell') ?? 'posix';
      const shell =
        shells.find((one) => one === asked) ??
        fail('invalid-request', `shell must be one of ${shells.join(', ')}.`, { param: 'shell' });
      const models = config.providers.flatMap(({ name, models: own }) => own.map((model) => `${name},${model}`));
      const usual = config.router.default === undefined ? (models[0] ?? routedName) : routedName;
      const model = params.get('model') ?? usual;
      const apiKey = params.get('key') === 'true' ? keyReference : anyKey;
      const access = accessTo(config, modelFacts, { baseUrl, apiKey, model });
      return showReferencesIn(config.referred, {
        model,
        models,
        keyVariable: clientKeyVariable,
        keyLine: shellLines({ [clientKeyVariable]: '{key}' }, shell).join('\n'),
        withoutProxy: shellLines(withoutProxy(baseUrl), shell).join('\n'),
        guides: clientTools.map((tool) => guideOf(tool, access, shell)),
      });
    },
  }),
});
