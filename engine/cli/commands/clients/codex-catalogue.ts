import type { Access, OfferedModel } from '../../../client-tools/tool.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../model/json/json.ts';

/** More entries than this aren't written: each repeats the instructions. */
const mostEntries = 300;

/**
 * The gateway's models in the form of Codex's `model_catalog_json`, which replaces the program's own list. `own` is that list, as
 * `codex debug models --bundled` prints it: its models keep all that Codex knows of them, but get no larger window than the
 * gateway's; absent or unreadable: none. A name that isn't in the list goes by the rules, so a last entry, whose empty slug is
 * the start of every name, has the window of the default route.
 *
 * Source: Codex 0.171.0, the faults of its reader, and requests after answers with a given usage.
 */
export const codexCatalogue = ({ models, context }: Access, own: string | undefined): string => {
  const known = new Map(ownModels(own).map((row) => [String(row.slug), row]));
  const offered = new Map(models.slice(0, mostEntries).map((model) => [model.name, model]));
  const ownRows = [...known].map(([slug, row]) => limited(row, (offered.get(slug) ?? { context }).context));
  const rows = [...offered.values()]
    .filter(({ name }) => !known.has(name))
    .map((model, index) =>
      entryOf(model, known.get(model.name.slice(model.name.indexOf(',') + 1)), ownRows.length + index),
    );
  const rest = { ...entryOf({ name: '', title: 'Junctor', context }, undefined, 0), visibility: 'hide' };
  return JSON.stringify({ models: [...ownRows, ...rows, rest] });
};

const ownModels = (text: string | undefined): readonly JsonObject[] => {
  const list = parseJson(text ?? '');
  const models: Json | undefined = isJsonObject(list) ? list.models : undefined;
  return Array.isArray(models) ? models.filter(isJsonObject).filter(({ slug }) => typeof slug === 'string') : [];
};

/** Codex lets `model_context_window` of its configuration raise a window up to `max_context_window`. */
const limited = (row: JsonObject, window: number | undefined): JsonObject =>
  window === undefined
    ? row
    : {
        ...row,
        context_window: smaller(row.context_window, window),
        max_context_window: smaller(row.max_context_window, window),
      };

const smaller = (given: Json | undefined, window: number): number =>
  typeof given === 'number' ? Math.min(given, window) : window;

const entryOf = (
  { name, title, context, images }: OfferedModel,
  same: JsonObject | undefined,
  priority: number,
): JsonObject => {
  const named = { slug: name, display_name: title, visibility: 'list', supported_in_api: true, priority: priority + 1 };
  if (same) return limited({ ...same, ...named, upgrade: null }, context);
  return {
    ...named,
    supported_reasoning_levels: [
      { effort: 'low', description: 'Fast responses with little reasoning' },
      { effort: 'medium', description: 'Speed and depth in balance' },
      { effort: 'high', description: 'The most reasoning' },
    ],
    supports_reasoning_summaries: true,
    shell_type: 'unified_exec',
    support_verbosity: false,
    supports_parallel_tool_calls: true,
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    experimental_supported_tools: [],
    input_modalities: images === false ? ['text'] : ['text', 'image'],
    base_instructions: instructions,
    ...(context !== undefined && { context_window: context, max_context_window: context }),
  };
};

/** Codex requires instructions of each entry. */
const instructions = `You are a coding agent in Codex, a program that runs in the user's terminal. You and the user share a workspace: \
you read and change its files and run commands with the tools that you have.

# Work
- Work on the task until it is done, or until you need a decision that only the user can make. Don't guess: read the code and its \
tests first. Search with \`rg\`, and \`rg --files\`, where it is installed.
- Mend causes rather than symptoms. Keep changes small and in the style of the code around them. Leave what the task doesn't \
concern alone, and say what you noticed.
- Edit files with \`apply_patch\`, as a tool or as a shell command (\`*** Begin Patch\`, \`*** Update File: path\`, \`@@\`, lines that \
begin with a space, \`-\` or \`+\`, \`*** End Patch\`), or with other commands where that is simpler.
- Check what you did: run the tests and linters that concern it, the narrowest first.
- The workspace may hold changes of the user's. Never revert or overwrite them, and never commit, push or delete unless asked.
- Follow AGENTS.md: each applies to its folder and those below, the deepest wins, and the user's words win over all of them.

# Commands
- Respect the sandbox and the approvals that other messages describe. Ask for more rights only where the task needs them.
- Run independent reads together. Stop long processes that you started.

# Words
- Before a group of commands, say in one sentence what you are about to do. Report at longer intervals on longer work.
- End with a short account of what changed and how you checked it. Name files with their paths and lines. Say plainly what failed \
or wasn't checked.
- Be brief, factual and polite. Use Markdown only where it helps.
`;
