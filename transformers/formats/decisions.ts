import Type, { type Static } from 'typebox';
import { bearer, format, type Target } from '../../engine/model/transformer.ts';
import { chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { type DecisionApi, decisionsUpstream, dialects } from '../../protocols/decisions/index.ts';

const Options = Type.Object(
  {
    api: Type.Optional(
      Type.Enum(['decisions', 'systemone'], {
        description:
          "The format to use: OpenAI's Decisions, or TypeSafe's System One. By default, the base URL's path decides; otherwise TypeSafe's host gets System One, and all others Decisions.",
      }),
    ),
  },
  { additionalProperties: false },
);

const host = 'api.typesafe.ai';

const apiOf = ({ baseUrl, options: { api } }: Target<Static<typeof Options>>): DecisionApi => {
  if (api !== undefined) return api;
  const path = baseUrl.pathname.replace(/\/$/, '');
  if (path.endsWith('/decisions')) return 'decisions';
  return path.endsWith('/systemone') || baseUrl.hostname === host ? 'systemone' : 'decisions';
};

/** Both report errors as OpenAI does, or by an HTTP status alone. */
const { decodeFault } = chatUpstream(plainDialect, []);

/** Models that answer typed questions and write no text. */
export const decisions = format({
  name: 'decision-models',
  about: "Asks decision models, over OpenAI's Decisions or TypeSafe's System One.",
  hosts: [host],
  options: Options,
  pathEnds: ['/decisions', '/systemone'],
  path: dialects.decisions.path,
  pathFor: (target) => dialects[apiOf(target)].path,
  protocol: (target) => ({ ...decisionsUpstream(apiOf(target)), decodeFault }),
  headers: bearer,
});
