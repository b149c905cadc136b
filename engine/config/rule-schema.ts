import Type, { type Static } from 'typebox';
import { clientWires } from '../model/wire/client-wires.ts';

// The conditions of routing rules. The web interface makes its form from the same members.

const oneOrMore = (description: string, ...examples: readonly string[]) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 100 })], { description, examples }),
  );

const flag = (description: string) => Type.Optional(Type.Boolean({ description, examples: [true] }));

const range = (what: string, example: number) =>
  Type.Optional(
    Type.Object(
      {
        over: Type.Optional(Type.Integer({ description: `More ${what} than this.`, minimum: 0, examples: [example] })),
        under: Type.Optional(
          Type.Integer({ description: `Fewer ${what} than this.`, minimum: 1, examples: [2 * example] }),
        ),
      },
      { description: `How many ${what} it has.`, examples: [{ over: example }] },
    ),
  );

const timeOfDay = (description: string, example: string) => Type.String({ description, examples: [example] });

/** The facts of a request that a condition can name. Globs have `*` for any characters and ignore case. */
export const factFields = {
  client: Type.Optional(
    Type.Union([Type.Enum(clientWires), Type.Array(Type.Enum(clientWires), { minItems: 1 })], {
      description: "The client's protocol, or several.",
      examples: ['messages'],
    }),
  ),
  path: oneOrMore('Globs for the path, without `/preset/NAME`.', '/v1/chat/*'),
  preset: oneOrMore('Globs for the preset that the request is sent to.', 'review'),
  headers: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([Type.Boolean(), Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 100 })]),
      {
        description: 'Headers by name: globs for the value, or whether there is one.',
        secret: 'named',
        examples: [{ 'x-team': 'blue*', 'x-trial': true }],
      },
    ),
  ),
  key: oneOrMore('Globs for the name of the client in `CLIENTS` whose key the request carries.', 'team-*'),
  model: oneOrMore('Globs for the model that the client asks for.', '*opus*'),
  tools: oneOrMore('Globs for the name of a tool that the request has.', 'mcp__*'),
  images: flag('Whether the conversation has an image.'),
  webSearch: flag('Whether the request has a web search that a vendor runs.'),
  safeguards: flag('Whether the client wants the calls of the answer judged, as an agent does that runs them unasked.'),
  reasoning: flag('Whether reasoning is asked for.'),
  tokens: range('tokens', 20_000),
  turns: range('turns of the user, tool results included,', 10),
  toolErrors: Type.Optional(
    Type.Object(
      {
        last: Type.Integer({
          description: 'Of this many of the latest tool results,',
          minimum: 1,
          maximum: 100,
          examples: [3],
        }),
        over: Type.Integer({ description: 'more than this many are errors.', minimum: 0, examples: [1] }),
      },
      { description: 'How many of the latest tool results are errors.', examples: [{ last: 3, over: 1 }] },
    ),
  ),
  repeatedCall: flag('Whether the last tool call was made before with the same arguments, since the user last spoke.'),
  sinceUser: range('turns of the model since the user last spoke', 10),
  lastTool: oneOrMore('Globs for the name of the tool that the model called last.', 'Bash'),
  system: oneOrMore('Texts that the system prompt contains, as written.', 'You are a code reviewer'),
  time: Type.Optional(
    Type.Object(
      {
        from: timeOfDay('From this time on, `HH:MM`.', '22:00'),
        to: timeOfDay('Until before this time; may be on the next day.', '06:00'),
        zone: Type.Optional(
          Type.String({ description: 'Time zone; absent: that of the machine.', examples: ['Europe/Berlin'] }),
        ),
      },
      { description: 'The time of day.', examples: [{ from: '22:00', to: '06:00', zone: 'Europe/Berlin' }] },
    ),
  ),
  requestClass: oneOrMore(
    'Globs for what an agent says its request is: `main`, `subagent`, `workflow`, `compaction`, `auxiliary`.',
    'subagent',
  ),
  agentType: oneOrMore('Globs for what an agent says its sub-agent is, such as `Explore`.', 'Explore'),
  compaction: oneOrMore('Globs for why an agent summarizes its conversation: `auto`, `manual`, `reactive`.', '*'),
  decides: Type.Optional(
    Type.Object(
      {
        ask: Type.String({
          description: 'The model that is asked, chat or decision model: `provider,model`, or a pool.',
          examples: ['local,small-model'],
        }),
        question: Type.String({
          description: "The question about the user's last text.",
          minLength: 1,
          maxLength: 2_000,
          examples: ['Is this a hard task?'],
        }),
        answers: Type.Optional(
          Type.Array(Type.String(), {
            description: 'The answers among which it chooses; absent: `yes` and `no`.',
            examples: [['code', 'prose', 'other']],
          }),
        ),
        answer: Type.Optional(
          Type.String({ description: 'The answer that must be given; absent: `yes`.', examples: ['code'] }),
        ),
        atLeast: Type.Optional(
          Type.Number({
            description:
              "Its least probability, from 0 to 1, in place of being the model's choice. Where the provider reports none, there is no answer.",
            minimum: 0,
            maximum: 1,
            examples: [0.8],
          }),
        ),
        limitMs: Type.Optional(
          Type.Integer({
            description: 'The longest time until the answer, in milliseconds. Default: 1,000.',
            minimum: 1,
            maximum: 60_000,
            examples: [500],
          }),
        ),
        otherwise: Type.Optional(
          Type.Boolean({ description: 'Whether it holds without an answer. Default: no.', examples: [true] }),
        ),
      },
      {
        description: 'A model gives this answer to a question.',
        examples: [{ ask: 'local,small-model', question: 'Is this a hard task?', atLeast: 0.8 }],
      },
    ),
  ),
};

/** What agents say their requests are. Source: Claude Code's documentation, "LLM gateway", request class. */
export const agentClasses = ['main', 'subagent', 'workflow', 'compaction', 'auxiliary'];

/** The members of a condition that join others. */
export const joins = ['all', 'any', 'not'] as const;

/** A condition: all of its members must hold. */
const condition = (description: string) =>
  Type.Cyclic(
    {
      When: Type.Object(
        {
          ...factFields,
          all: Type.Optional(
            Type.Array(Type.Ref('When'), { description: 'Each of these holds.', examples: [[{ client: 'chat' }]] }),
          ),
          any: Type.Optional(
            Type.Array(Type.Ref('When'), {
              description: 'At least one of these holds.',
              examples: [[{ model: '*haiku*' }, { requestClass: 'auxiliary' }]],
            }),
          ),
          not: Type.Optional(Type.Ref('When', { description: 'This does not hold.', examples: [{ client: 'chat' }] })),
        },
        { description: 'All members must hold.' },
      ),
    },
    'When',
    { description, examples: [{ model: '*opus*' }] },
  );

/** The condition of a rule. */
export const When = condition('Which requests.');
/** The condition of a transformer's entry. */
export const StageWhen = condition('Which requests the stage runs for, as in `Router.rules`; absent: all.');
export type When = Static<typeof When>;

/** An element of `Router.rules` in the source. */
export const RuleFile = Type.Object({
  name: Type.String({
    description: 'Unique; 1 to 64 letters, digits, dots, hyphens and underscores.',
    examples: ['reviews'],
  }),
  when: When,
  hold: Type.Optional(
    Type.Enum(['turn'], {
      description: 'Keeps the rule once its condition held: `turn`, until the user speaks again.',
      examples: ['turn'],
    }),
  ),
  to: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 20 })], {
    description: 'The destination; of a list, the first one, and the others are its fallbacks.',
    examples: ['work,large-model', ['work,large-model', 'local,small-model']],
  }),
});
export type RuleFile = Static<typeof RuleFile>;
